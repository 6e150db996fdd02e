// The text of kv_append: one kernel, codes and scales of a token stored at its slot, in both caches.
//
// RUN: eider emit kv_append --dim hidden=1024 --arch sm_90 | FileCheck %s
// RUN: eider emit kv_append --dim hidden=1024 --block '*x*' --scale-source static --arch sm_90 | FileCheck %s --check-prefix=GIVEN

// CHECK-LABEL: void kv_append(
// CHECK:         const int64 slot_mapping_value = row.load_rows(slot_mapping);
// CHECK:         const Row chosen_2 = row.at(slot_mapping_value, slots);
// CHECK-NEXT:    chosen_2.store(k_cache, E4m3::encode_bounded_quotient(turned, scale));
// CHECK-NEXT:    chosen_2.store_groups<128>(k_cache_scale, scale);
// CHECK:         chosen_2.store(v_cache, E4m3::encode_bounded_quotient(v_row, scale_2));
// CHECK-NEXT:    chosen_2.store_groups<128>(v_cache_scale, scale_2);

// GIVEN-LABEL: void kv_append(
// GIVEN-NOT:     k_cache_scale
// GIVEN:         k_scale
// GIVEN:         chosen_2.store(k_cache, E4m3::encode_quotient(turned,
