//===- write.cpp - y, yt, copy and amax -----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/ops/Parameters.h"

using namespace eider;
using ops::Parameters;

/// How the transpose is quantised: with the same blocks along its own rows. Given scales of square
/// blocks are y's, transposed; others are an input of their own.
static QuantizeOptions ofTranspose(const Parameters &p, Builder &b, const Shape &shape,
                                   const QuantizeOptions &upright) {
  QuantizeOptions options = upright;
  if (p.givenScales && p.block[0] == p.block[1])
    options.scales = transpose(upright.scales);
  else if (p.givenScales)
    options.scales = b.input("scale_t", p.scale, blocks_of(shape, p.block), p.layout);
  return options;
}

void Parameters::write(Builder &b, const Value &value) const {
  if (quantises) {
    const QuantizeOptions options = quantization(b, value.shape());
    b.output("y", quantize(value, format, options));
    if (transposes) {
      const Value turned = transpose(value);
      b.output("yt", quantize(turned, format, ofTranspose(*this, b, turned.shape(), options)));
    }
  } else {
    b.output("y", value, dtype);
    if (transposes)
      b.output("yt", transpose(value), dtype);
  }
  if (copy)
    b.output("copy", value, copy);
  if (givesAmax)
    b.output("amax", amax(value, Block(value.shape().size(), whole)).named("largest"));
}
