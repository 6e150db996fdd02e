// Stochastic rounding from the program to the text: seed and offset are arguments, the bits are the tile's, and software encodes.
//
// RUN: eider-opt %s -eider-decompose | FileCheck %s --check-prefix=ARITH
// RUN: eider-opt %s -eider-decompose '-eider-legalize=target=sm_90' | FileCheck %s --check-prefix=CODEC
// RUN: not eider-opt %s -eider-decompose '-eider-legalize=target=sm_90 codec=hardware' 2>&1 | FileCheck %s --check-prefix=ASKED
// RUN: eider-opt %s -eider-decompose '-eider-legalize=target=sm_90' -eider-assign-schedule -eider-lower-to-simt -eider-print-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT

// ARITH: %[[X:.*]] = eider.input "x"
// ARITH: %[[SEED:.*]] = eider.integer "seed" = 0
// ARITH: %[[OFFSET:.*]] = eider.integer "offset" = 7
// ARITH: %[[BITS:.*]] = eider.random %[[SEED]], %[[OFFSET]] : tensor<?x256xi16, #eider.dims<tokens, hidden>>
// ARITH: eider.encode %[[X]] by %{{.*}} random %[[BITS]] : tensor<?x256xi16, #eider.dims<tokens, hidden>> {bounded} :

// CODEC: eider.encode {{.*}} {bounded, codec = #eider<codec software>}
// ASKED: error: no GPU rounds stochastically by instruction from these bits; take codec auto or software

// TEXT: const float *x, int64 seed, int64 offset, e4m3 *y
// TEXT: const auto codes = E4m3::encode_bounded_quotient_stochastic(x_row, scale,
// TEXT-NEXT: row.random(seed, offset));
// TEXT-NEXT: row.store(y, codes);

!x = tensor<?x256xf32, #eider.dims<tokens, hidden>>
!y = !eider.scaled<?x256xf8E4M3FN, dims = <tokens, hidden>, block = [1, 128], scale = f32, layout = row_major>
eider.program @p(tokens, hidden = 256) {
  %x = eider.input "x" : !x
  %seed = eider.integer "seed" = 0
  %offset = eider.integer "offset" = 7
  %bits = eider.random %seed, %offset : tensor<?x256xi16, #eider.dims<tokens, hidden>>
  %y = eider.quantize %x random %bits : tensor<?x256xi16, #eider.dims<tokens, hidden>> numerics<rounding = stochastic> : !x -> !y
  eider.output "y", %y : !y
}
