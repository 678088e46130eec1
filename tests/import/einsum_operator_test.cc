// SPDX-License-Identifier: BSD-3-Clause
//
// Einsum against the sum that its equation says, over all values of all labels.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::expect_computes;
using test::expect_refused;
using test::OperatorFixture;

using Shapes = std::vector<std::vector<std::int64_t>>;

// The place of an operand's entry for these values of the labels; -1 where an axis is of length one
// and its label is not: it has one entry for all.
std::int64_t place_of(const std::string& labels,
                      const std::vector<std::int64_t>& shape,
                      const std::map<char, std::int64_t>& values) {
  std::int64_t place = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    place = place * shape[i] + (shape[i] == 1 ? 0 : values.at(labels[i]));
  }
  return place;
}

struct BruteForce {
  std::vector<std::string> operands;
  std::string result;
  Shapes shapes;  // of operands that lie in theta one behind the other

  template <typename T>
  std::vector<T> operator()(const test::Column<T>& theta, const double*) const {
    std::map<char, std::int64_t> sizes;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      for (std::size_t i = 0; i < operands[k].size(); ++i) {
        std::int64_t& size = sizes[operands[k][i]];
        size = std::max(size, shapes[k][i]);
      }
    }
    std::vector<std::int64_t> shape;
    std::int64_t size = 1;
    for (const char label : result) shape.push_back(sizes.at(label));
    for (const std::int64_t one : shape) size *= one;
    std::vector<T> sums(static_cast<std::size_t>(size), T(0.0));
    std::map<char, std::int64_t> values;
    for (const auto& [label, count] : sizes) values[label] = 0;
    for (bool is_done = false; !is_done;) {
      T product(1.0);
      std::int64_t first = 0;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        product *= theta(first + place_of(operands[k], shapes[k], values));
        std::int64_t entries = 1;
        for (const std::int64_t one : shapes[k]) entries *= one;
        first += entries;
      }
      sums[static_cast<std::size_t>(place_of(result, shape, values))] += product;
      is_done = true;
      for (auto& [label, value] : values) {
        if (++value < sizes.at(label)) {
          is_done = false;
          break;
        }
        value = 0;
      }
    }
    return sums;
  }
};

// @param spelled_out  the equation without ellipsis and with its result.
void expect_sum(const std::string& equation, const BruteForce& spelled_out) {
  SCOPED_TRACE(equation);
  OperatorFixture op("Einsum");
  op.with("equation", equation.c_str());
  for (const auto& shape : spelled_out.shapes) op.parameter(shape);
  expect_computes(op, op.result(), spelled_out);
}

TEST(Einsum, MultipliesMatricesAndStacksOfThem) {
  expect_sum("ij,jk->ik", {{"ij", "jk"}, "ik", {{2, 3}, {3, 2}}});
  expect_sum("ij, jk", {{"ij", "jk"}, "ik", {{2, 3}, {3, 2}}});
  expect_sum("bij,bkj->bki", {{"bij", "bkj"}, "bki", {{2, 2, 3}, {2, 1, 3}}});
  expect_sum("qbhd,kbhd->bhqk", {{"qbhd", "kbhd"}, "bhqk", {{2, 1, 2, 2}, {2, 1, 2, 2}}});
}

TEST(Einsum, SumsTransposesAndTakesDiagonals) {
  expect_sum("ij->ji", {{"ij"}, "ji", {{2, 3}}});
  expect_sum("ba", {{"ba"}, "ab", {{2, 3}}});
  expect_sum("ijk->j", {{"ijk"}, "j", {{2, 3, 2}}});
  expect_sum("ij->", {{"ij"}, "", {{2, 2}}});
  expect_sum("ii->i", {{"ii"}, "i", {{3, 3}}});
  expect_sum("iji->j", {{"iji"}, "j", {{2, 3, 2}}});
}

TEST(Einsum, MultipliesEntriesAndAllByAll) {
  expect_sum("ij,ij->ij", {{"ij", "ij"}, "ij", {{2, 3}, {2, 3}}});
  expect_sum("i,j->ji", {{"i", "j"}, "ji", {{2}, {3}}});
  expect_sum("ij,k->i", {{"ij", "k"}, "i", {{2, 2}, {2}}});
  expect_sum(",i->i", {{"", "i"}, "i", {{}, {2}}});
}

TEST(Einsum, FoldsManyOperands) {
  expect_sum("ij,jk,kl->il", {{"ij", "jk", "kl"}, "il", {{2, 2}, {2, 3}, {3, 1}}});
  expect_sum("a,ab,b->", {{"a", "ab", "b"}, "", {{2}, {2, 2}, {2}}});
  expect_sum("bi,bj,bk->ijk", {{"bi", "bj", "bk"}, "ijk", {{2, 2}, {2, 1}, {2, 2}}});
}

TEST(Einsum, BroadcastsTheAxesOfAnEllipsis) {
  expect_sum("...ij,...jk->...ik", {{"aij", "jk"}, "aik", {{2, 1, 2}, {2, 2}}});
  expect_sum("...i,...i", {{"abi", "bi"}, "ab", {{2, 1, 2}, {3, 2}}});
  expect_sum("i...->...i", {{"iab"}, "abi", {{2, 1, 3}}});
}

TEST(Einsum, CarriesTheBatch) {
  OperatorFixture heads("Einsum");
  heads.with("equation", "bqhd,bkhd->bhqk").data({2, 2, 3}).data({4, 2, 3});
  EXPECT_EQ(text(heads.result().axes), "(N, 2, 2, 4)");
  OperatorFixture rows("Einsum");
  rows.with("equation", "bi,oi->ob").data({2}).parameter({3, 2});
  const onnx::Value y = rows.result();
  EXPECT_EQ(text(y.axes), "(3, N)");
  expect_computes(rows, y, [](const auto& w, const double* x) {
    using T = typename std::decay_t<decltype(w)>::Scalar;
    std::vector<T> entries;
    for (int o = 0; o < 3; ++o) entries.push_back(w(2 * o) * T(x[0]) + w(2 * o + 1) * T(x[1]));
    return entries;
  });
}

TEST(Einsum, KeepsSamplesApart) {
  const auto expect_apart = [](const char* equation, const std::string& why) {
    SCOPED_TRACE(equation);
    OperatorFixture op("Einsum");
    expect_refused(op.with("equation", equation).data({2}).data({2}), why);
  };
  expect_apart("bi,bi->i", "it sums over axis 0 of (N, 2), the batch (N)");
  expect_apart("ai,bi->ab", "let each sample meet all others");
  expect_apart("ai,bi->b", "it sums over axis 0 of (N, 2), the batch (N)");
  expect_apart("bi,ij->bj", "let samples meet other things");
  OperatorFixture sums("Einsum");
  expect_refused(sums.with("equation", "bi->i").data({2}), "it sums over axis 0 of (N, 2)");
  OperatorFixture diagonal("Einsum");
  expect_refused(diagonal.with("equation", "bb->b").data({1}), "over the batch (N)");
}

TEST(Einsum, RefusesEquationsThatDoNotFit) {
  const auto expect_misfit = [](const char* equation, const std::string& why) {
    SCOPED_TRACE(equation);
    OperatorFixture op("Einsum");
    expect_refused(op.with("equation", equation).parameter({2, 3}), why);
  };
  expect_misfit("ij,jk->ik", "has 2 operands, but there are 1 inputs");
  expect_misfit("ijk->i", "term 'ijk' does not fit a tensor (2, 3)");
  expect_misfit("i...jk", "does not fit a tensor (2, 3)");
  expect_misfit("i1->i", "is no letter and no ellipsis");
  expect_misfit("ii->i", "one label for axes of different length");
  expect_misfit("ij->ik", "its result's labels must be among its operands', each once");
  expect_misfit("ij->ii", "its result's labels must be among its operands', each once");
  OperatorFixture lengths("Einsum");
  lengths.with("equation", "ij,jk->ik").parameter({2, 3}).parameter({2, 3});
  expect_refused(lengths, "shapes (2, 3) and (2, 3) do not fit its equation");
}

}  // namespace
}  // namespace hesscope
