//===- eider/formats/codec.cuh - Floats to codes and back -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// A format is a specialisation of `Format`, in a file of its own. The codec here serves them all,
// by the target's conversion instructions or by arithmetic that every target has: the same bits
// either way. Codes are handled four at a time. Where a format's arithmetic `loses_nan`, it says
// whether some of four codes are NaN (`nans_in`, in the top bits of the bytes; others are junk),
// and what makes NaN of a pair.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_FORMATS_CODEC_CUH
#define EIDER_FORMATS_CODEC_CUH

#include "eider/formats/piece.cuh"
#include "eider/formats/quotient.cuh"
#include "eider/math.cuh"

namespace eider {

template <class T, CodecPath path> struct Codec {
  static constexpr CodecPath conversion = path;
  static_assert(
      path == software || Format<T>::has_instructions,
      "this target has no conversion instructions for the format: use the software codec");

  //===-- Decode ----------------------------------------------------------===//

  /// The values of the codes, exact; NaN and infinities stay what they are.
  template <int count>
  static EIDER_DEVICE Fragment<float, count> decode(const Fragment<T, count> &codes) {
    constexpr int most = 16; // at a time: one test for NaN, and few registers
    Fragment<float, count> values;
    EIDER_UNROLL
    for (int first = 0; first < count; first += most) {
      uint32 pairs[most / 2], lost = 0;
      EIDER_UNROLL
      for (int i = 0; i < most && first + i < count; i += 4) {
        const uint32 four = four_codes(codes, first + i);
        Format<T>::template decode<path>(four, pairs[i / 2], pairs[i / 2 + 1]);
        if constexpr (Format<T>::template loses_nan<path>)
          lost |= Format<T>::nans_in(four);
      }
      if constexpr (Format<T>::template loses_nan<path>)
        if (arch::unlikely((lost & tops_of_bytes) != 0)) {
          EIDER_UNROLL
          for (int i = 0; i < most && first + i < count; ++i)
            pairs[i / 2] |=
                Format<T>::nans_of(four_codes(codes, (first + i) / 4 * 4) >> i % 4 * 8 & 0xffu)
                << i % 2 * 16;
        }
      EIDER_UNROLL
      for (int i = 0; i < most && first + i < count; ++i)
        values.fill(first + i, i % 2 ? arch::float_from_high_f16(pairs[i / 2])
                                     : arch::float_from_low_f16(pairs[i / 2]));
    }
    return values;
  }
  static EIDER_DEVICE float decode(T code) { return decode(single(code))[0]; }

  //===-- Encode ----------------------------------------------------------===//

  /// Nearest even, saturating; NaN gives the NaN code, or what the format has in its place. The
  /// sign is copied, that of a NaN and of what rounds to 0 too, where the format has both.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> encode(const Fragment<float, count> &values) {
    constexpr int size = piece_of(count);
    Fragment<T, count> codes{};
    EIDER_UNROLL
    for (int first = 0; first < count; first += size)
      encode_any<size>(values, first, codes);
    return codes;
  }
  static EIDER_DEVICE T encode(float value) { return encode(single(value))[0]; }

  /// The same of groups whose largest magnitude is known, not finite if one is NaN: where it is
  /// finite, nobody looks for NaN.
  template <int count, Operand Largest>
  static EIDER_DEVICE Fragment<T, count> encode(const Fragment<float, count> &values,
                                                const Largest &largest) {
    return encode_groups<false>(values, largest);
  }
  /// The same where that is mostly no more than rounds to the largest finite value: there no value
  /// needs a clamp.
  template <int count, Operand Largest>
  static EIDER_DEVICE Fragment<T, count> encode_bounded(const Fragment<float, count> &values,
                                                        const Largest &largest) {
    return encode_groups<true>(values, largest);
  }

  /// As `encode`, but NaN gives the largest finite value.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> encode_number(const Fragment<float, count> &values) {
    return encode(numbers(values));
  }
  static EIDER_DEVICE T encode_number(float value) { return encode_number(single(value))[0]; }

  /// As `encode` and `encode_number`, but what rounds past the largest finite value overflows as
  /// the format has it: to infinity, else to NaN.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> encode_overflow(const Fragment<float, count> &values) {
    return overflowed(encode(values), values);
  }
  static EIDER_DEVICE T encode_overflow(float value) { return encode_overflow(single(value))[0]; }
  template <int count>
  static EIDER_DEVICE Fragment<T, count>
  encode_number_overflow(const Fragment<float, count> &values) {
    return overflowed(encode_number(values), values);
  }
  static EIDER_DEVICE T encode_number_overflow(float value) {
    return encode_number_overflow(single(value))[0];
  }

  /// As `encode`, but a value between two codes has either of them: the further one from 0 with the
  /// probability that its place between them gives, to 2^-17, of codes of four bits to 2^-9. The
  /// random numbers of elements are `random.of<Draw<T>, size>(first)`.
  template <int count, class Random>
  static EIDER_DEVICE Fragment<T, count> encode_stochastic(const Fragment<float, count> &values,
                                                           const Random &random) {
    return draw<piece_of(count)>(values, random, [&](int first, bool has_nan) {
      constexpr int size = piece_of(count);
      return has_nan | (!Piece<T, path, size>::sees_nan && has_nonfinite<size>(values, first));
    });
  }
  /// The same of groups whose largest magnitude is known, not finite if one is NaN.
  template <int count, Operand Largest, class Random>
  static EIDER_DEVICE Fragment<T, count> encode_stochastic(const Fragment<float, count> &values,
                                                           const Largest &largest,
                                                           const Random &random) {
    return draw<piece_of(count / extent<Largest>)>(values, random, [&](int first, bool) {
      return is_not_finite(element<count>(largest, first));
    });
  }
  template <int count, class Random>
  static EIDER_DEVICE Fragment<T, count>
  encode_number_stochastic(const Fragment<float, count> &values, const Random &random) {
    return encode_stochastic(numbers(values), random);
  }

  /// The code of the correctly rounded float x / scale: nearest even, saturating; NaN gives the NaN
  /// code. The sign is that of x, turned by a negative scale. x: float, bf16 or f16; scale: a float
  /// or a group fragment.
  template <class X, int count, Operand Scale>
  static EIDER_DEVICE Fragment<T, count> encode_quotient(const Fragment<X, count> &x,
                                                         const Scale &scale) {
    return divide<false>(x, scale);
  }
  template <class X>
  requires(!is_fragment<X>) static EIDER_DEVICE T encode_quotient(X x, float scale) {
    return encode_quotient(single(x), scale)[0];
  }

  /// The same where the scale is at least amax / maximum of its elements, and NaN or Inf with one
  /// of them, as the scale of a quantisation is: no quotient by a usual scale needs a clamp then,
  /// and none is NaN.
  template <class X, int count, Operand Scale>
  static EIDER_DEVICE Fragment<T, count> encode_bounded_quotient(const Fragment<X, count> &x,
                                                                 const Scale &scale) {
    return divide<true>(x, scale);
  }
  template <class X>
  requires(!is_fragment<X>) static EIDER_DEVICE T encode_bounded_quotient(X x, float scale) {
    return encode_bounded_quotient(single(x), scale)[0];
  }

  /// The same two of groups whose largest magnitude of x is known, NaN if one is, as is the scale
  /// then: nobody looks for NaN. `bounded`: the scale is mostly amax / maximum, but for its
  /// rounding and what the largest magnitude tells.
  template <class X, int count, Operand Scale, Operand Largest>
  static EIDER_DEVICE Fragment<T, count>
  encode_quotient(const Fragment<X, count> &x, const Scale &scale, const Largest &largest) {
    return divide<false>(x, scale, largest);
  }
  template <class X, int count, Operand Scale, Operand Largest>
  static EIDER_DEVICE Fragment<T, count>
  encode_bounded_quotient(const Fragment<X, count> &x, const Scale &scale, const Largest &largest) {
    return divide<true>(x, scale, largest);
  }

  /// The code of the correctly rounded float x / scale, rounded as `encode_stochastic` does. Signs,
  /// operands and what is bounded as in `encode_quotient` and `encode_bounded_quotient`.
  template <class X, int count, Operand Scale, class Random>
  static EIDER_DEVICE Fragment<T, count> encode_quotient_stochastic(const Fragment<X, count> &x,
                                                                    const Scale &scale,
                                                                    const Random &random) {
    return divide_stochastic<false>(x, scale, random);
  }
  template <class X, int count, Operand Scale, Operand Largest, class Random>
  static EIDER_DEVICE Fragment<T, count>
  encode_quotient_stochastic(const Fragment<X, count> &x, const Scale &scale,
                             const Largest &largest, const Random &random) {
    return divide_stochastic<false>(x, scale, random, largest);
  }
  template <class X, int count, Operand Scale, class Random>
  static EIDER_DEVICE Fragment<T, count>
  encode_bounded_quotient_stochastic(const Fragment<X, count> &x, const Scale &scale,
                                     const Random &random) {
    return divide_stochastic<true>(x, scale, random);
  }

private:
  /// The values, with the largest for NaN.
  template <int count>
  static EIDER_DEVICE Fragment<float, count> numbers(const Fragment<float, count> &values) {
    return map(values, [](float x) {
      const float most = Format<T>::maximum;
      return x == x ? x : arch::as_bits(x) >> 31 ? -most : most;
    });
  }

  template <class X> static EIDER_DEVICE Fragment<X, 1> single(X x) {
    Fragment<X, 1> result{};
    result.fill(0, x);
    return result;
  }

  /// Codes i, i + 1, … from the lowest bit on; i is a multiple of 4.
  template <int count>
  static EIDER_DEVICE uint32 four_codes(const Fragment<T, count> &codes, int i) {
    using Codes = Fragment<T, count>;
    return codes.words[i / Codes::per_word] >> i % Codes::per_word * Codes::bits;
  }

  /// Codes of the values, with the format's overflow where a value is too large.
  template <int count>
  static EIDER_DEVICE Fragment<T, count> overflowed(Fragment<T, count> codes,
                                                    const Fragment<float, count> &values) {
    constexpr int per_word = Fragment<T, count>::per_word, bits = Fragment<T, count>::bits;
    constexpr uint32 mask = (1u << bits) - 1, top = 1u << (bits - 1);
    EIDER_UNROLL
    for (int i = 0; i < count; ++i) {
      uint32 &word = codes.words[i / per_word];
      const uint32 at = i % per_word * bits, sign = word >> at & top;
      if (Format<T>::overflows(arch::magnitude(values[i])))
        word = arch::select_bits(mask << at, Format<T>::overflow(sign) << at, word);
    }
    return codes;
  }

  /// Whether one of `size` elements from `first` on is infinite or NaN: no number times 0 is NaN.
  template <int size, class X, int count>
  static EIDER_DEVICE bool has_nonfinite(const Fragment<X, count> &x, int first) {
    float sum = 0.0f;
    if constexpr ((same<X, f16> || (same<X, bf16> && arch::has_packed_maximum)) && size % 2 == 0) {
      uint32 pair = 0;
      EIDER_UNROLL
      for (int w = first / 2; w < (first + size) / 2; ++w)
        pair = same<X, bf16> ? arch::add_zero_times_bf16x2(x.words[w], pair)
                             : arch::add_zero_times_f16x2(x.words[w], pair);
      sum = detail::low_half<X>(pair) + detail::high_half<X>(pair);
    } else {
      EIDER_UNROLL
      for (int i = first; i < first + size; ++i)
        sum = arch::fma(eider::to<float>(x[i]), 0.0f, sum);
    }
    return sum != sum;
  }

  /// Magnitudes up to here round to the maximum at most: what is beyond it by less than half of its
  /// last place.
  static constexpr float reach =
      Format<T>::maximum * (1.0f + 0.25f / (1 << Format<T>::mantissa_bits));

  static EIDER_DEVICE bool is_not_finite(float largest) {
    return !(largest <= arch::as_float(0x7f7fffffu));
  }
  /// Whether a group with that largest magnitude needs a look at each element: for NaN, and, where
  /// no instruction clamps, for what is beyond the maximum of those that are mostly bounded.
  template <bool bounded> static EIDER_DEVICE bool is_beyond(float largest) {
    return bounded && path == software ? !(largest <= reach) : is_not_finite(largest);
  }
  /// The same of quotients, whose scale is NaN with the magnitude. By arithmetic a clamp makes the
  /// maximum of infinity, too, be its quotient NaN.
  template <bool bounded> static EIDER_DEVICE bool is_beyond(float largest, float scale) {
    if constexpr (path == software)
      return bounded && !(largest <= reach * scale);
    return is_not_finite(largest);
  }

  /// Whether some quotient by a usual scale may be NaN, of an infinity, NaN, or too large a float.
  static EIDER_DEVICE bool is_far(float largest, float scale) {
    return !(largest * 0x1p-100f <= scale);
  }

  /// Of `count` elements so many are encoded at a time: few enough for the registers.
  static constexpr EIDER_DEVICE int piece_of(int count) {
    return count % 16 == 0 ? 16 : count % 8 == 0 ? 8 : count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
  }

  /// Codes of `size` values from `first` on, whatever they are.
  template <int size, int count>
  static EIDER_DEVICE void encode_any(const Fragment<float, count> &values, int first,
                                      Fragment<T, count> &codes) {
    Piece<T, path, size> piece;
    piece.take(values, first);
    constexpr bool given_signs = path == software || Format<T>::has_signed_nan;
    if constexpr (given_signs)
      piece.take_signs(values, first);
    piece.template write<given_signs, /*bounded=*/false>(codes, first);
    if (path == software && arch::unlikely(has_nonfinite<size>(values, first)))
      piece.write_nans(codes, first); // which instructions know
  }

  /// The same of groups whose largest magnitude is known.
  template <bool bounded, int count, Operand Largest>
  static EIDER_DEVICE Fragment<T, count> encode_groups(const Fragment<float, count> &values,
                                                       const Largest &largest) {
    static_assert(count % extent<Largest> == 0, "levels that do not go together");
    constexpr int each = count / extent<Largest>, size = piece_of(each);
    Fragment<T, count> codes{};
    EIDER_UNROLL
    for (int group = 0; group < count; group += each) {
      // Instructions write every code but for a NaN's sign.
      constexpr bool knows_all = path == hardware && !Format<T>::has_signed_nan;
      if (!knows_all && arch::unlikely(is_beyond<bounded>(element<count>(largest, group)))) {
        EIDER_UNROLL
        for (int first = group; first < group + each; first += size)
          encode_any<size>(values, first, codes);
        continue;
      }
      EIDER_UNROLL
      for (int first = group; first < group + each; first += size) {
        Piece<T, path, size> piece;
        piece.take(values, first);
        if (path == software)
          piece.take_signs(values, first);
        piece.template write<path == software, bounded>(codes, first);
      }
    }
    return codes;
  }

  /// Codes of values, rounded by random numbers, `size` at a time. `may_have_nan` says of those
  /// from some element on, and of what their encoder saw, whether one may be NaN.
  template <int size, int count, class Random, class MayHaveNan>
  static EIDER_DEVICE Fragment<T, count>
  draw(const Fragment<float, count> &values, const Random &random, const MayHaveNan &may_have_nan) {
    static_assert(path == software, "no instruction rounds by these random bits");
    Fragment<T, count> codes{};
    EIDER_UNROLL
    for (int first = 0; first < count; first += size) {
      Piece<T, path, size> piece;
      piece.take(values, first);
      piece.take_signs(values, first);
      piece.rescale(piece.unit, false);
      const auto draws = random.template of<Draw<T>, size>(first);
      const bool has_nan = piece.template write_stochastic</*bounded=*/false>(codes, first, draws);
      if (arch::unlikely(may_have_nan(first, has_nan)))
        piece.write_nans(codes, first);
    }
    return codes;
  }

  template <bool bounded, class X, int count, Operand Scale, Operand... Largest>
  static EIDER_DEVICE Fragment<T, count> divide(const Fragment<X, count> &x, const Scale &scale,
                                                const Largest &...largest) {
    static_assert(((count % extent<Scale> == 0) && ... && (extent<Scale> % extent<Largest> == 0)),
                  "x, scale and largest are of levels that do not go together");
    constexpr int each = count / extent<Scale>; // of one scale
    Fragment<T, count> codes{};
    EIDER_UNROLL
    for (int first = 0; first < count; first += each) {
      const float divided = element<count>(scale, first);
      divide_group<bounded, each>(x, first, divided, codes,
                                  is_beyond<bounded>(element<count>(largest, first), divided)...);
    }
    return codes;
  }

  /// The codes of elements first … first + each - 1 of x by their scale: by the fast quotient where
  /// it serves. What is rare has a branch of its own, so that it costs the others neither moves nor
  /// registers: other scales, and groups that are `beyond`, where their largest magnitude tells.
  template <bool bounded, int each, class X, int count, class... Beyond>
  static EIDER_DEVICE void divide_group(const Fragment<X, count> &x, int first, float scale,
                                        Fragment<T, count> &codes, Beyond... beyond) {
    constexpr bool known = bounded || sizeof...(Beyond) > 0; // that no x is NaN, nor infinite
    // Instructions clamp and know NaN: where operands are finite or NaN, every quotient has its
    // code; but for a NaN's sign, which is given with the others.
    constexpr bool knows_nan = path == hardware && Format<T>::has_signed_nan;
    constexpr bool clamps = !known && knows_nan;
    // Signs are given to an encoder by arithmetic or of magnitudes.
    constexpr bool given_signs = path == software || clamps;
    constexpr int size = piece_of(each);
    const bool is_rare = (is_unusual_scale(scale) | ... | beyond);
    if (known && arch::unlikely(is_rare)) {
      EIDER_UNROLL
      for (int i = first; i < first + each; i += size)
        divide_rare<size>(x, i, scale, codes);
      return;
    }
    const Divisor<2> divisor(scale);
    EIDER_UNROLL
    for (int i = first; i < first + each; i += size) {
      Piece<T, path, size> piece;
      if constexpr (clamps)
        piece.take_finite(x, i);
      else
        piece.take(x, i);
      if (given_signs)
        piece.take_signs(x, i);
      EIDER_UNROLL
      for (int j = 0; j < size; ++j)
        piece.values.fill(j, divisor.quotient(piece.values[j]));
      piece.template write<given_signs, bounded>(codes, i);
      // No quotient of a finite operand is NaN, and what is too large saturates.
      const bool has_rare = is_rare | (!known && !clamps && has_nonfinite<size>(x, i));
      if (!known && arch::unlikely(has_rare))
        divide_rare<size>(x, i, scale, codes);
    }
  }

  template <bool bounded, class X, int count, Operand Scale, class Random, Operand... Largest>
  static EIDER_DEVICE Fragment<T, count> divide_stochastic(const Fragment<X, count> &x,
                                                           const Scale &scale, const Random &random,
                                                           const Largest &...largest) {
    static_assert(path == software, "no instruction rounds by these random bits");
    static_assert(((count % extent<Scale> == 0) && ... && (extent<Scale> % extent<Largest> == 0)),
                  "x, scale and largest are of levels that do not go together");
    constexpr int size = piece_of(count / extent<Scale>); // all of one scale
    Fragment<T, count> codes{};
    EIDER_UNROLL
    for (int first = 0; first < count; first += size) {
      const float divided = element<count>(scale, first);
      constexpr bool known = bounded || sizeof...(Largest) > 0;
      const bool is_rare =
          (is_unusual_scale<-60>(divided) | ... | is_far(element<count>(largest, first), divided));
      Piece<T, path, size> piece;
      const Divisor<3> divisor(divided * (1.0f / piece.unit));
      piece.take(x, first);
      piece.take_signs(x, first);
      EIDER_UNROLL
      for (int i = 0; i < size; ++i)
        piece.values.fill(i, divisor.quotient(piece.values[i]));
      // Of a finite operand NaN is a quotient that is too large, as which it saturates.
      const auto draws = random.template of<Draw<T>, size>(first);
      const bool has_nan = piece.template write_stochastic<bounded>(codes, first, draws);
      const bool has_rare = !known && (piece.sees_nan ? has_nan : has_nonfinite<size>(x, first));
      if (arch::unlikely(is_rare | has_rare))
        divide_stochastic_rare<size>(x, first, divided, draws, codes);
    }
    return codes;
  }

  /// The same for any scale and any x, by division.
  template <int size, class X, int count, class Number>
  static EIDER_DEVICE void divide_stochastic_rare(const Fragment<X, count> &x, int first,
                                                  float scale, const Fragment<Number, size> &draws,
                                                  Fragment<T, count> &codes) {
    Piece<T, path, size> piece;
    piece.take(x, first);
    piece.take_signs(x, first);
    piece.rescale(1.0f, has_minus(scale));
    EIDER_UNROLL
    for (int i = 0; i < size; ++i)
      piece.values.fill(i, piece.values[i] / scale * piece.unit);
    piece.template write_stochastic</*bounded=*/false>(codes, first, draws);
    piece.write_nans(codes, first);
  }

  /// The same for any scale and any x: rescaled, with infinities and NaN as a division has them.
  /// A rescaled operand may be tiny, so here all take three operations.
  template <int size, class X, int count>
  static EIDER_DEVICE void divide_rare(const Fragment<X, count> &x, int first, float scale,
                                       Fragment<T, count> &codes) {
    Piece<T, path, size> piece;
    piece.take(x, first);
    piece.take_signs(x, first);
    if (is_unusual_scale(scale)) {
      const Rescaling rescaling(scale);
      piece.rescale(rescaling.factor, has_minus(scale));
      scale = rescaling.scale;
    }
    const Divisor<3> divisor(scale);
    const float reciprocal = arch::approximate_rcp(scale);
    EIDER_UNROLL
    for (int i = 0; i < size; ++i) {
      const float operand = piece.values[i], quotient = divisor.quotient(operand);
      piece.values.fill(i, quotient == quotient ? quotient : operand * reciprocal);
    }
    piece.template write</*given_signs=*/true, /*bounded=*/false>(codes, first);
    piece.write_nans(codes, first);
  }
};

} // namespace eider

#endif // EIDER_FORMATS_CODEC_CUH
