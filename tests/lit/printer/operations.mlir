// The text of every op: an operator or a call of the vocabulary.
//
// RUN: eider-opt %s -eider-print-cuda -o /dev/null | FileCheck %s

// CHECK-LABEL: void scalars(
simt.kernel @scalars ["a", "b", "c"] threads = 32 grid = "1" arguments = ["scalar:a", "scalar:b", "scalar:c"] alignments = {} header = [] {
^bb0(%a: f32, %b: f32, %c: f32):
  %rows = arith.constant 4 : i64
  // CHECK: for (const Row row : Row::over(4)) {
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    // CHECK-NEXT: const float v0 = eider::max(a, b);
    %v0 = arith.maximumf %a, %b {eider.name = "v0"} : f32
    // CHECK-NEXT: const float v1 = eider::min(a, b);
    %v1 = arith.minimumf %a, %b {eider.name = "v1"} : f32
    // CHECK-NEXT: const float v2 = eider::max_number(a, b);
    %v2 = arith.maxnumf %a, %b {eider.name = "v2"} : f32
    // CHECK-NEXT: const float v3 = eider::min_number(a, b);
    %v3 = arith.minnumf %a, %b {eider.name = "v3"} : f32
    // CHECK-NEXT: const float v4 = eider::abs(a);
    %v4 = math.absf %a {eider.name = "v4"} : f32
    // CHECK-NEXT: const float v5 = eider::sqrt(a);
    %v5 = math.sqrt %a {eider.name = "v5"} : f32
    // CHECK-NEXT: const float v6 = eider::rsqrt(a);
    %v6 = math.rsqrt %a {eider.name = "v6"} : f32
    // CHECK-NEXT: const float v7 = eider::exp(a);
    %v7 = math.exp %a {eider.name = "v7"} : f32
    // CHECK-NEXT: const float v8 = eider::exp2(a);
    %v8 = math.exp2 %a {eider.name = "v8"} : f32
    // CHECK-NEXT: const float v9 = eider::log(a);
    %v9 = math.log %a {eider.name = "v9"} : f32
    // CHECK-NEXT: const float v10 = eider::tanh(a);
    %v10 = math.tanh %a {eider.name = "v10"} : f32
    // CHECK-NEXT: const float v11 = eider::erf(a);
    %v11 = math.erf %a {eider.name = "v11"} : f32
    // CHECK-NEXT: const float v12 = eider::fma(a, b, c);
    %v12 = math.fma %a, %b, %c {eider.name = "v12"} : f32
    // CHECK-NEXT: const float v13 = eider::sigmoid(a);
    %v13 = simt.sigmoid %a {eider.name = "v13"} : f32
    // CHECK-NEXT: const float power = eider::power_of_two_below(a);
    %power = simt.power_of_two below %a {eider.name = "power"} : f32
    // CHECK-NEXT: const float next_power = eider::power_of_two_above(a);
    %next_power = simt.power_of_two above %a {eider.name = "next_power"} : f32
    // CHECK-NEXT: const auto exponent = eider::to<e8m0>(power);
    %exponent = arith.truncf %power {eider.name = "exponent"} : f32 to f8E8M0FNU
    // CHECK-NEXT: const float v14 = eider::select(a < b, a, c);
    %less = arith.cmpf olt, %a, %b : f32
    %v14 = arith.select %less, %a, %c {eider.name = "v14"} : f32
    // CHECK-NEXT: const auto v15 = a == b;
    %v15 = arith.cmpf oeq, %a, %b {eider.name = "v15"} : f32
    // CHECK-NEXT: const auto v16 = a != b;
    %v16 = arith.cmpf une, %a, %b {eider.name = "v16"} : f32
    // CHECK-NEXT: const auto v17 = a <= b;
    %v17 = arith.cmpf ole, %a, %b {eider.name = "v17"} : f32
    // CHECK-NEXT: const auto v18 = a > b;
    %v18 = arith.cmpf ogt, %a, %b {eider.name = "v18"} : f32
    // CHECK-NEXT: const auto v19 = a >= b;
    %v19 = arith.cmpf oge, %a, %b {eider.name = "v19"} : f32
    // CHECK-NEXT: const auto v20 = eider::to<bf16>(a);
    %v20 = arith.truncf %a {eider.name = "v20"} : f32 to bf16
    // CHECK-NEXT: const float v21 = eider::to<float>(v20);
    %v21 = arith.extf %v20 {eider.name = "v21"} : bf16 to f32
    // CHECK-NEXT: const auto v22 = eider::to<f16>(a);
    %v22 = arith.truncf %a {eider.name = "v22"} : f32 to f16
  }
}

// Integer arithmetic of the row count.
// CHECK-LABEL: void integers(
simt.kernel @integers ["m"] threads = 32 grid = "1" arguments = ["dim:m"] alignments = {} header = [] {
^bb0(%m: i64):
  %three = arith.constant 3 : i64
  %rows = arith.muli %m, %three : i64
  // CHECK: Row::over(m * 3)
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
  }
}

// Accesses of a row tile: alignment, pitch, groups.
// CHECK-LABEL: void accesses(
simt.kernel @accesses ["x", "s", "w", "y", "pitch"] threads = 32 grid = "1" arguments = ["tensor:x", "tensor:s", "tensor:w", "tensor:y", "stride:x:0"] alignments = {} header = [] {
// CHECK-NEXT: const f16 *x, float *s, const f16 *w, f16 *y, int64 pitch) {
^bb0(%x: !simt.pointer<f16>, %s: !simt.pointer<f32>, %w: !simt.pointer<f16>, %y: !simt.pointer<f16>, %pitch: i64):
  %rows = arith.constant 4 : i64
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    // CHECK: const auto x_row = row.load(x);
    %x0 = simt.load elements %x at %at : <f16>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf16>
    // CHECK-NEXT: const auto x_row_2 = row.load<2>(x, pitch);
    %x1 = simt.load elements %x at %at pitch %pitch : i64 {alignment = 2 : i64} : <f16>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf16>
    // CHECK-NEXT: const auto x_second = row.load(x + 256);
    %further = simt.offset %x, 256 : !simt.pointer<f16>
    %x2 = simt.load elements %further at %at : <f16>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf16>
    // CHECK-NEXT: const auto w_row = row.load_columns<8>(w);
    %w0 = simt.load columns %w at %at {alignment = 8 : i64} : <f16>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf16>
    // CHECK-NEXT: const auto s_groups = row.load_groups<128>(s);
    %g0 = simt.load groups %s at %at {group = 128 : i64} : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<1xf32>
    // CHECK-NEXT: const auto s_groups_2 = row.load_groups<128, 64>(s, pitch);
    %g1 = simt.load groups %s at %at pitch %pitch : i64 {group = 128 : i64, group_rows = 64 : i64} : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<1xf32>
    // CHECK-NEXT: const float s_value = row.load_rows(s);
    %r0 = simt.load rows %s at %at : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    // CHECK-NEXT: const float s_value_2 = eider::load_uniform(s);
    %u0 = simt.load uniform %s at %at : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    // CHECK-NEXT: row.store(y, x_row);
    simt.store elements %x0 to %y at %at : vector<8xf16>, <f16>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // CHECK-NEXT: row.store<2>(y, x_row_2, pitch);
    simt.store elements %x1 to %y at %at pitch %pitch : i64 {alignment = 2 : i64} : vector<8xf16>, <f16>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // CHECK-NEXT: row.store_groups<128>(s, s_groups);
    simt.store groups %g0 to %s at %at {group = 128 : i64} : vector<1xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // CHECK-NEXT: row.store_rows(s, s_value);
    simt.store rows %r0 to %s at %at : f32, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}

// Reductions, codecs and spreads.
// CHECK-LABEL: void collectives(
simt.kernel @collectives ["x", "c", "d", "e"] threads = 32 grid = "1" arguments = ["tensor:x", "tensor:c", "tensor:d", "scalar:e"] alignments = {} header = [] {
^bb0(%x: !simt.pointer<f32>, %c: !simt.pointer<f8E4M3FN>, %d: !simt.pointer<f8E5M2>, %e: f32):
  %rows = arith.constant 4 : i64
  // CHECK: using E4m3 = Codec<e4m3, hardware>;
  // CHECK-NEXT: using E5m2 = Codec<e5m2, software>;
  simt.for_tiles %rows {
  ^bb0(%at: !simt.cursor<<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>):
    %v = simt.load elements %x at %at : <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<8xf32>
    // CHECK: const float sum = row.sum(x_row);
    %sum = simt.reduce sum %v at %at : vector<8xf32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    // CHECK-NEXT: const float largest = row.max(x_row);
    %max = simt.reduce max %v at %at {eider.name = "largest"} : vector<8xf32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    // CHECK-NEXT: const float min = row.min(x_row);
    %min = simt.reduce min %v at %at : vector<8xf32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    // CHECK-NEXT: const float amax = row.amax(x_row);
    %amax = simt.reduce amax %v at %at : vector<8xf32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    // CHECK-NEXT: const float amax_number = row.amax_number(x_row);
    %amax_number = simt.reduce amax_number %v at %at : vector<8xf32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> f32
    // CHECK-NEXT: const auto amax_2 = row.amax_of_groups<64>(x_row);
    %groups = simt.reduce amax %v at %at {group = 64 : i64} : vector<8xf32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>> -> vector<1xf32>
    %wide = simt.spread %groups : vector<1xf32> to vector<8xf32>
    // CHECK-NEXT: row.store(c, E4m3::encode_quotient(x_row, amax_2));
    %q = simt.encode %v by %wide : vector<8xf32> codec hardware : vector<8xf32> -> vector<8xf8E4M3FN>
    simt.store elements %q to %c at %at : vector<8xf8E4M3FN>, <f8E4M3FN>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // CHECK-NEXT: row.store(c, E4m3::encode(x_row * amax_2));
    %product = arith.mulf %v, %wide : vector<8xf32>
    %p = simt.encode %product codec hardware : vector<8xf32> -> vector<8xf8E4M3FN>
    simt.store elements %p to %c at %at : vector<8xf8E4M3FN>, <f8E4M3FN>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // CHECK-NEXT: row.store(c, E4m3::encode_number(x_row));
    %n = simt.encode %v codec hardware {ignore_nan} : vector<8xf32> -> vector<8xf8E4M3FN>
    simt.store elements %n to %c at %at : vector<8xf8E4M3FN>, <f8E4M3FN>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // CHECK-NEXT: row.store(d, E5m2::encode_overflow(x_row));
    %o = simt.encode %v codec software {overflow_to_format} : vector<8xf32> -> vector<8xf8E5M2>
    simt.store elements %o to %d at %at : vector<8xf8E5M2>, <f8E5M2>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // CHECK-NEXT: row.store(x, E4m3::decode(E4m3::encode_number(x_row)));
    %n2 = simt.encode %v codec hardware {ignore_nan} : vector<8xf32> -> vector<8xf8E4M3FN>
    %back = simt.decode %n2 codec hardware : vector<8xf8E4M3FN> -> vector<8xf32>
    simt.store elements %back to %x at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // What is stored must say how wide it is.
    // CHECK-NEXT: row.store(x, eider::spread<8>(e));
    %es = simt.spread %e : f32 to vector<8xf32>
    simt.store elements %es to %x at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
    // Of operands that are all repeated, the first says it.
    // CHECK-NEXT: row.store(x, eider::spread<8>(e) * amax_2);
    %es2 = simt.spread %e : f32 to vector<8xf32>
    %both = arith.mulf %es2, %wide : vector<8xf32>
    simt.store elements %both to %x at %at : vector<8xf32>, <f32>, <<row, threads = 32, vector = 8, rows = 1, columns = 256, loads = 1, width = 256>>
  }
}
