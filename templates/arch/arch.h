//===- eider/arch/arch.h - The hardware, by name ----------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// `eider::arch` is what the library asks of a processor. Each file that is chosen here gives the
// same names with the same results, bit for bit; only what nvidia.h says with an instruction,
// host.h says with integers.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_ARCH_ARCH_H
#define EIDER_ARCH_ARCH_H

#ifdef EIDER_HOST
#include "eider/arch/host.h"
#else
#include "eider/arch/nvidia.h"
#endif

#endif // EIDER_ARCH_ARCH_H
