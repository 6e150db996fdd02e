// What eider.prefill refuses.
//
// RUN: eider-opt %s -split-input-file -verify-diagnostics

eider.program @ranks(s, h, d) {
  %q = eider.input "q" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>
  %k = eider.input "k" : tensor<?x?xf8E4M3FN, #eider.dims<s, d>>
  // expected-error @below {{is of queries [s, h, d], keys [s, kv_heads, d] and values [s, kv_heads, e]}}
  %o = eider.prefill %q, %k, %k : (tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?xf8E4M3FN, #eider.dims<s, d>>, tensor<?x?xf8E4M3FN, #eider.dims<s, d>>) -> tensor<?x?x?xf32, #eider.dims<s, h, d>>
}

// -----

eider.program @other_tokens(s, t, h, g, d) {
  %q = eider.input "q" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>
  %k = eider.input "k" : tensor<?x?x?xf8E4M3FN, #eider.dims<t, g, d>>
  // expected-error @below {{has as many queries as keys, of one length}}
  %o = eider.prefill %q, %k, %k : (tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<t, g, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<t, g, d>>) -> tensor<?x?x?xf32, #eider.dims<s, h, d>>
}

// -----

eider.program @scales(s, h, g, d) {
  %q = eider.input "q" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>
  %k = eider.input "k" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>
  %1 = eider.input "one" : tensor<1xf32, #eider.dims<1>>
  // expected-error @below {{has scales of queries, if they are codes, keys and values, or none}}
  %o = eider.prefill %q, %k, %k by %1 : (tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>, tensor<1xf32, #eider.dims<1>>) -> tensor<?x?x?xf32, #eider.dims<s, h, d>>
}

// -----

eider.program @starts(s, h, d, b) {
  %q = eider.input "q" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>
  %s = eider.input "starts" : tensor<?x2xi32, #eider.dims<b, 2>>
  // expected-error @below {{has starts [sequences + 1]}}
  %o = eider.prefill %q, %q, %q starts %s : (tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x2xi32, #eider.dims<b, 2>>) -> tensor<?x?x?xf32, #eider.dims<s, h, d>>
}

// -----

eider.program @other_heads_of_values(s, h, g, d) {
  %q = eider.input "q" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>
  %k = eider.input "k" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>
  %v = eider.input "v" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>
  // expected-error @below {{and values of 'tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>'}}
  %o = eider.prefill %q, %k, %v : (tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>) -> tensor<?x?x?xf32, #eider.dims<s, h, d>>
}

// -----

// As many columns as values have that are no keys'.
eider.program @other_columns(s, h, g, d, e) {
  %q = eider.input "q" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>
  %k = eider.input "k" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>
  %v = eider.input "v" : tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, e>>
  %one = eider.prefill %q, %k, %v : (tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, e>>) -> tensor<?x?x?xf32, #eider.dims<s, h, e>>
  %two = eider.prefill %q, %k, %k : (tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>) -> tensor<?x?x64xf32, #eider.dims<s, h, 64>>
  // expected-error @below {{the result}}
  %o = eider.prefill %q, %k, %v : (tensor<?x?x?xf8E4M3FN, #eider.dims<s, h, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, d>>, tensor<?x?x?xf8E4M3FN, #eider.dims<s, g, e>>) -> tensor<?x?x?xf32, #eider.dims<s, h, d>>
}
