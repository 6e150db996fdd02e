// What eider.attention refuses.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

eider.program @no_cache(b, h, d, n) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?xf8E4M3FN, #eider.dims<n, h, d>>
  %s = eider.input "s" : tensor<1xf32, #eider.dims<1>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{keys and values [pages, page, kv_heads, d]}}
  %o = eider.attention %q, %k by %s, %k by %s pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<n, h, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?x?xf8E4M3FN, #eider.dims<n, h, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @other_lengths(b, h, d, n, p, g, other) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>
  %s = eider.input "s" : tensor<1xf32, #eider.dims<1>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<other>>
  // expected-error @below {{as many rows of pages, and lengths, as sequences}}
  %o = eider.attention %q, %k by %s, %k by %s pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<other>>) -> tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @other_pages(b, h, d, n, p, g) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{has a page of each sequence where no table says which are whose}}
  %o = eider.attention %q, %k, %k lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @scales_of_others(b, h, d, n, p, g, other) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>
  %s = eider.input "s" : tensor<?x?x?xf32, #eider.dims<n, other, g>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{has scales [s], [pages, s], [pages, page, s] or [pages, page, s, blocks]}}
  %o = eider.attention %q, %k by %s, %k by %s pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<?x?x?xf32, #eider.dims<n, other, g>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<?x?x?xf32, #eider.dims<n, other, g>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @scales_of_blocks_of_others(b, h, d, n, p, g, c, other) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>
  %s = eider.input "s" : tensor<?x?x?x?xf32, #eider.dims<n, other, g, c>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{has scales [s], [pages, s], [pages, page, s] or [pages, page, s, blocks]}}
  %o = eider.attention %q, %k by %s, %k by %s pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<?x?x?x?xf32, #eider.dims<n, other, g, c>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<?x?x?x?xf32, #eider.dims<n, other, g, c>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @scales_of_no_codes(b, h, d, n, p, g) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>
  %s = eider.input "s" : tensor<1xf32, #eider.dims<1>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{scales of keys and of values, where these are codes, or none}}
  %o = eider.attention %q, %k by %s, %k by %s pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @scales_of_keys_alone(b, h, d, n, p, g) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>
  %s = eider.input "s" : tensor<1xf32, #eider.dims<1>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{scales of keys and of values, where these are codes, or none}}
  %o = eider.attention %q, %k by %s, %k pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @computed(b, h, d, n, p, g) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>
  %x = eider.input "s" : tensor<1xf32, #eider.dims<1>>
  %s = arith.negf %x : tensor<1xf32, #eider.dims<1>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{reads inputs, but for queries}}
  %o = eider.attention %q, %k by %s, %k by %s pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?x?x?xf8E4M3FN, #eider.dims<n, p, g, d>>, tensor<1xf32, #eider.dims<1>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x?xf32, #eider.dims<b, h, d>>
}

// -----

eider.program @fewer_columns_of_values(b, h, d, n, p, g) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>
  %v = eider.input "v" : tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{the result}}
  %o = eider.attention %q, %k, %v pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>, tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x512xf32, #eider.dims<b, h, 512>>
}

// -----

eider.program @latents_of_other_heads(b, h, d, n, p, g) {
  %q = eider.input "q" : tensor<?x?x?xbf16, #eider.dims<b, h, d>>
  %k = eider.input "k" : tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>
  %t = eider.input "t" : tensor<?x?xi32, #eider.dims<b, n>>
  %l = eider.input "l" : tensor<?xi32, #eider.dims<b>>
  // expected-error @below {{the result}}
  %o = eider.attention %q, %k, %k pages %t lengths %l : (tensor<?x?x?xbf16, #eider.dims<b, h, d>>, tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>, tensor<?x?x?x?xbf16, #eider.dims<n, p, g, d>>, tensor<?x?xi32, #eider.dims<b, n>>, tensor<?xi32, #eider.dims<b>>) -> tensor<?x?x512xf32, #eider.dims<b, g, 512>>
}
