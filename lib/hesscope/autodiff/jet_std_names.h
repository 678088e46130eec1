// SPDX-License-Identifier: BSD-3-Clause
//
// What a compiler reports for std::sin(x) with a Jet x. The functions of <cmath> do not accept
// Jets, and no compiler would say what to write instead. Those declared below are deleted, and
// their type says it:
//
//   use of deleted function 'JetsNeed<"hesscope: write `using std::sin; sin(x)`, ...   (GCC)
//   explicitly deleted: HESSCOPE_JETS_NEED_USING_STD(sin)                              (Clang)
//
// Formally, no program may declare anything in namespace std. Since everything here is deleted, no
// program that compiles calls it, and no program changes its meaning because of it: calls that also
// find the functions of jet_functions.h prefer those, whose constraint is stronger (AnyJet,
// JetType). std::max and std::min, which are templates that accept Jets, are not affected. Define
// HESSCOPE_NO_STD_NAMES to omit all of this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <hesscope/autodiff/jet.h>
#include <hesscope/autodiff/jet_binary_functions.h>

#ifndef HESSCOPE_NO_STD_NAMES

namespace hesscope::detail {

// A sentence as a template argument.
template <std::size_t Size>
struct Sentence {
  consteval Sentence(const char (&literal)[Size]) {  // NOLINT: a literal is meant to convert
    std::copy_n(literal, Size, text);
  }

  char text[Size] = {};
};

template <Sentence>
struct JetsNeed {};

}  // namespace hesscope::detail

#define HESSCOPE_JETS_NEED(name, arguments)                                                  \
  ::hesscope::detail::JetsNeed<"hesscope: write `using std::" #name "; " #name "(" arguments \
                               ")`, as std::" #name " knows no Jets">

#define HESSCOPE_JETS_NEED_USING_STD(name) \
  template <::hesscope::JetType J>         \
  HESSCOPE_JETS_NEED(name, "x")            \
  name(const J&) = delete;

#define HESSCOPE_JET_AND_NUMBER_NEED_USING_STD(name) \
  template <::hesscope::JetType J>                   \
  HESSCOPE_JETS_NEED(name, "x, y")                   \
  name(const J&, double) = delete;                   \
  template <::hesscope::JetType J>                   \
  HESSCOPE_JETS_NEED(name, "x, y")                   \
  name(double, const J&) = delete;

#define HESSCOPE_TWO_JETS_NEED_USING_STD(name) \
  template <::hesscope::JetType J>             \
  HESSCOPE_JETS_NEED(name, "x, y")             \
  name(const J&, const J&) = delete;           \
  HESSCOPE_JET_AND_NUMBER_NEED_USING_STD(name)

#define HESSCOPE_THREE_JETS_NEED_USING_STD(name)                                           \
  template <typename A, typename B, typename C>                                            \
  requires(::hesscope::detail::JetsOrNumbers<A, B, C>) HESSCOPE_JETS_NEED(name, "x, y, z") \
  name(const A&, const B&, const C&) = delete;

namespace std {

HESSCOPE_JETS_NEED_USING_STD(abs)
HESSCOPE_JETS_NEED_USING_STD(fabs)
HESSCOPE_JETS_NEED_USING_STD(sqrt)
HESSCOPE_JETS_NEED_USING_STD(cbrt)
HESSCOPE_JETS_NEED_USING_STD(exp)
HESSCOPE_JETS_NEED_USING_STD(exp2)
HESSCOPE_JETS_NEED_USING_STD(expm1)
HESSCOPE_JETS_NEED_USING_STD(log)
HESSCOPE_JETS_NEED_USING_STD(log2)
HESSCOPE_JETS_NEED_USING_STD(log10)
HESSCOPE_JETS_NEED_USING_STD(log1p)
HESSCOPE_JETS_NEED_USING_STD(sin)
HESSCOPE_JETS_NEED_USING_STD(cos)
HESSCOPE_JETS_NEED_USING_STD(tan)
HESSCOPE_JETS_NEED_USING_STD(asin)
HESSCOPE_JETS_NEED_USING_STD(acos)
HESSCOPE_JETS_NEED_USING_STD(atan)
HESSCOPE_JETS_NEED_USING_STD(sinh)
HESSCOPE_JETS_NEED_USING_STD(cosh)
HESSCOPE_JETS_NEED_USING_STD(tanh)
HESSCOPE_JETS_NEED_USING_STD(asinh)
HESSCOPE_JETS_NEED_USING_STD(acosh)
HESSCOPE_JETS_NEED_USING_STD(atanh)
HESSCOPE_JETS_NEED_USING_STD(erf)
HESSCOPE_JETS_NEED_USING_STD(erfc)
HESSCOPE_JETS_NEED_USING_STD(lgamma)
HESSCOPE_JETS_NEED_USING_STD(tgamma)
HESSCOPE_JETS_NEED_USING_STD(floor)
HESSCOPE_JETS_NEED_USING_STD(ceil)
HESSCOPE_JETS_NEED_USING_STD(trunc)
HESSCOPE_JETS_NEED_USING_STD(round)
HESSCOPE_JETS_NEED_USING_STD(rint)
HESSCOPE_JETS_NEED_USING_STD(nearbyint)
HESSCOPE_JETS_NEED_USING_STD(isfinite)
HESSCOPE_JETS_NEED_USING_STD(isnan)
HESSCOPE_JETS_NEED_USING_STD(isinf)
HESSCOPE_JETS_NEED_USING_STD(signbit)

HESSCOPE_TWO_JETS_NEED_USING_STD(pow)
HESSCOPE_TWO_JETS_NEED_USING_STD(atan2)
HESSCOPE_TWO_JETS_NEED_USING_STD(hypot)
HESSCOPE_TWO_JETS_NEED_USING_STD(fmax)
HESSCOPE_TWO_JETS_NEED_USING_STD(fmin)
HESSCOPE_TWO_JETS_NEED_USING_STD(fdim)
HESSCOPE_TWO_JETS_NEED_USING_STD(fmod)
HESSCOPE_TWO_JETS_NEED_USING_STD(remainder)
HESSCOPE_TWO_JETS_NEED_USING_STD(copysign)

HESSCOPE_THREE_JETS_NEED_USING_STD(hypot)
HESSCOPE_THREE_JETS_NEED_USING_STD(fma)
HESSCOPE_THREE_JETS_NEED_USING_STD(lerp)

}  // namespace std

#undef HESSCOPE_JETS_NEED
#undef HESSCOPE_JETS_NEED_USING_STD
#undef HESSCOPE_JET_AND_NUMBER_NEED_USING_STD
#undef HESSCOPE_TWO_JETS_NEED_USING_STD
#undef HESSCOPE_THREE_JETS_NEED_USING_STD

#endif  // HESSCOPE_NO_STD_NAMES
