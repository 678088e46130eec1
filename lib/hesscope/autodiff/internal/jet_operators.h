// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic shared by Jets of higher order: operators that follow from those that each of them
// defines itself.
#pragma once

namespace hesscope::detail {

/// The operators of a Jet J on base scalars B, whose value is `a`, from its +=, -=, *= by a B,
/// multiply_add() and quotient of two Jets. J derives from it.
template <typename J, typename B>
struct JetOperators {
  friend J operator-(const J& x) { return J() - x; }

  friend J operator+(J x, const J& y) { return x += y; }

  friend J operator+(J x, const B& y) {
    x.a += y;
    return x;
  }

  friend J operator+(const B& x, J y) { return y + x; }

  friend J operator-(J x, const J& y) { return x -= y; }

  friend J operator-(J x, const B& y) {
    x.a -= y;
    return x;
  }

  friend J operator-(const B& x, const J& y) { return J(x) - y; }

  friend J operator*(const J& x, const J& y) {
    J product;
    multiply_add(product, x, y);
    return product;
  }

  friend J operator*(J x, const B& y) { return x *= y; }

  friend J operator*(const B& x, J y) { return y *= x; }

  friend J operator/(J x, const B& y) {
    const B value = x.a / y;
    x *= B(1) / y;
    x.a = value;
    return x;
  }

  friend J operator/(const B& x, const J& y) { return J(x) / y; }
};

}  // namespace hesscope::detail
