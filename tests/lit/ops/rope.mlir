// The text of qk-norm and rope: a head's mean square from its own lanes, one row of angles a token, halves turned by a shuffle.
//
// RUN: eider emit norm_rope --dim hidden=1024 --arch sm_90 | FileCheck %s
// RUN: eider emit rope --dim hidden=1024 --set head=64 --set interleaved=1 --arch sm_90 | FileCheck %s --check-prefix=PAIRS

// CHECK-LABEL: void norm_rope(
// CHECK:         const auto sum = row.sum_of_groups_of_products<128>(wide, wide);
// CHECK-NEXT:    const auto mean_square = sum / 128.0f;
// CHECK-NEXT:    const auto weight_repeated = row.load_repeated<128>(weight, 0);
// CHECK-NEXT:    const auto n = wide * eider::rsqrt(mean_square + eps) * eider::to<float>(weight_repeated);
// CHECK-NEXT:    const int64 positions_value = row.load_rows(positions);
// CHECK-NEXT:    const Row chosen = row.at(positions_value, max_position);
// CHECK-NEXT:    const auto cos_repeated = chosen.load_repeated<64>(cos);
// CHECK-NEXT:    const auto sin_repeated = chosen.load_repeated<64>(sin);
// CHECK-NEXT:    const auto rotated = row.rotate_halves<128>(n);
// CHECK-NEXT:    const auto turned = eider::fma(n, eider::to<float>(cos_repeated),
// CHECK-NEXT:        rotated * eider::to<float>(sin_repeated));
// CHECK-NEXT:    row.store<16, streaming>(y, eider::to<bf16>(turned));

// PAIRS:         const auto cos_repeated = chosen.load_repeated<32, 2>(cos);
// PAIRS:         row.rotate_halves<2>(wide);
