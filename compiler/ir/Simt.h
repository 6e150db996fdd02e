//===- Simt.h - The simt dialect --------------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_IR_SIMT_H
#define EIDER_IR_SIMT_H

#include "compiler/ir/Eider.h"

#include "compiler/ir/SimtDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/SimtAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/SimtTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/ir/SimtOps.h.inc"

#endif // EIDER_IR_SIMT_H
