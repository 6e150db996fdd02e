// The texts of ops whose rows an index chooses: the tile moves to the row, once for each index, and loads as anywhere.
//
// RUN: eider emit embedding --dim hidden=1024 --arch sm_90 | FileCheck %s
// RUN: eider emit moe_permute_quant --dim hidden=1024 --arch sm_90 | FileCheck %s --check-prefix=PERMUTE
// RUN: eider emit moe_unpermute --dim hidden=1024 --index i32 --arch sm_90 | FileCheck %s --check-prefix=UNPERMUTE

// CHECK-LABEL: void embedding(
// CHECK:         const int64 ids_value = row.load_rows(ids);
// CHECK-NEXT:    const Row chosen = row.at(ids_value, vocabulary);
// CHECK-NEXT:    const auto table_scale_groups = chosen.load_groups<128>(table_scale);
// CHECK-NEXT:    const auto table_row = chosen.load(table);
// CHECK-NEXT:    row.store(y, eider::to<bf16>(E4m3::decode(table_row) * table_scale_groups));
// CHECK-NEXT:  }

// PERMUTE-LABEL: void moe_permute_quant(
// PERMUTE:         const Row chosen = row.at(source_value, sources);
// PERMUTE-NEXT:    const auto x_row = chosen.load(x);
// PERMUTE-NEXT:    const auto amax = row.amax_of_groups<128>(x_row);

// UNPERMUTE-LABEL: void moe_unpermute(
// UNPERMUTE:         row.at(eider::to<int64>(index_value), permuted);
// UNPERMUTE:         row.load_rows(index + 1, 2);
// UNPERMUTE:         const auto total = weight_value * (E4m3::decode(x_row) * x_scale_groups) +
