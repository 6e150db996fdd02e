//===- examples/demo/Signal.h - What a quantisation costs -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_EXAMPLES_DEMO_SIGNAL_H
#define EIDER_EXAMPLES_DEMO_SIGNAL_H

#include "eider/compile.h"

namespace demo {

/// Signal to noise in decibels: 10 · log10(Σ original² / Σ (original − restored)²). Both f32, of
/// the same size.
double signalToNoise(const eider::HostTensor &original, const eider::HostTensor &restored);

} // namespace demo

#endif // EIDER_EXAMPLES_DEMO_SIGNAL_H
