// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/objective/internal/unit_families.h>
#include <hesscope/objective/internal/unit_views.h>
#include <hesscope/objective/internal/vanishing_sums.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// T_j += c T_i for each term, a view; T_i += c T_j for those that are turned.
AffineGenerator generator_of(const std::vector<UnitView>& views,
                             const std::vector<std::pair<std::size_t, bool>>& terms,
                             const VectorXd& coefficients,
                             Index i,
                             Index j) {
  AffineGenerator generator;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const double c = coefficients(static_cast<Index>(t));
    if (c == 0) continue;
    const UnitView& view = views[terms[t].first];
    const Index from = terms[t].second ? j : i;
    const Index to = terms[t].second ? i : j;
    for (Index f = 0; f < view.front; ++f) {
      for (Index b = 0; b < view.back; ++b) {
        generator.linear.push_back({view.entry(f, to, b), view.entry(f, from, b), c});
      }
    }
  }
  return generator;
}

class UnitSearch {
 public:
  UnitSearch(std::span<const ParameterBlock> blocks,
             const SearchPoints& points,
             Index units,
             Index max_units)
      : views_(std::make_shared<const std::vector<UnitView>>(unit_views(blocks, units))),
        points_(points),
        units_(units),
        is_diagonal_(looks_at_rescalings_only(max_units)) {}

  // Each way round: i = j are rescalings, others changes of basis.
  std::vector<Invariance> find() const {
    const std::vector<Products> products = products_of();
    std::map<std::vector<double>, Family> families;
    for (Index i = 0; i < units_; ++i) {
      for (Index j = i; j < units_; ++j) {
        if (i != j && is_diagonal_) break;
        look_at_pair(products, i, j, families);
      }
    }
    std::vector<Invariance> found;
    for (auto& [key, family] : families) found.push_back(invariance_of(std::move(family)));
    return found;
  }

 private:
  // <T_i, dl/dT_j> for all i and j, of one view, for each sample at each point; and the same of
  // magnitudes.
  struct Products {
    std::vector<MatrixXd> values;
    std::vector<MatrixXd> magnitudes;
  };

  struct Family {
    std::vector<std::pair<std::size_t, bool>> terms;
    VectorXd coefficients;
    std::vector<std::pair<Index, Index>> pairs;
  };

  // Changes of basis take a decomposition for each pair of units.
  bool looks_at_rescalings_only(Index max_units) const {
    constexpr double kMaxWork = 3e8;  // pairs times cubes of terms: a second or two
    const auto terms = static_cast<double>(2 * views_->size());
    const double pairs = 0.5 * static_cast<double>(units_) * static_cast<double>(units_);
    return units_ > max_units || 2 * views_->size() > kMaxUnitTerms ||
           pairs * terms * terms * terms > kMaxWork;
  }

  std::vector<Products> products_of() const {
    std::vector<Products> all;
    for (const UnitView& view : *views_) {
      Products products;
      for (const GradientPoint& point : points_.points) {
        const MatrixXd slices = view.slices(point.theta);
        for (Index s = 0; s < point.gradients.cols(); ++s) {
          const MatrixXd gradient = view.slices(point.gradients.col(s));
          if (is_diagonal_) {  // a column instead of the matrix
            products.values.push_back(slices.cwiseProduct(gradient).rowwise().sum());
            products.magnitudes.push_back(slices.cwiseProduct(gradient).cwiseAbs().rowwise().sum());
          } else {
            products.values.push_back(slices * gradient.transpose());
            products.magnitudes.push_back(slices.cwiseAbs() * gradient.cwiseAbs().transpose());
          }
        }
      }
      all.push_back(std::move(products));
    }
    return all;
  }

  void look_at_pair(const std::vector<Products>& products,
                    Index i,
                    Index j,
                    std::map<std::vector<double>, Family>& families) const {
    std::vector<std::pair<std::size_t, bool>> terms;
    for (std::size_t v = 0; v < views_->size(); ++v) {
      terms.emplace_back(v, false);
      if (i != j) terms.emplace_back(v, true);
    }
    const Index num_rows = points_.num_rows();
    MatrixXd values(num_rows, static_cast<Index>(terms.size()));
    MatrixXd magnitudes(num_rows, values.cols());
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const Products& of_view = products[terms[t].first];
      const bool is_turned = terms[t].second;
      for (Index r = 0; r < num_rows; ++r) {
        const auto row = static_cast<std::size_t>(r);
        const MatrixXd& value = of_view.values[row];
        const Index a = is_turned ? j : i;
        const Index b = value.cols() == 1 && value.rows() > 1 ? 0 : is_turned ? i : j;
        values(r, static_cast<Index>(t)) = value(a, b);
        magnitudes(r, static_cast<Index>(t)) = of_view.magnitudes[row](a, b);
      }
    }
    const SumTerms sums{values, magnitudes, points_.num_finding_rows()};
    for (VectorXd& coefficients : vanishing_sums(sums, points_.tolerance)) {
      const std::vector<double> key(coefficients.begin(), coefficients.end());
      Family& family = families[key];
      family.terms = terms;
      family.coefficients = std::move(coefficients);
      family.pairs.emplace_back(i, j);
    }
  }

  Invariance invariance_of(Family family) const {
    std::vector<std::string> names;
    for (std::size_t t = 0; t < family.terms.size(); ++t) {
      const std::string& name = (*views_)[family.terms[t].first].block->name;
      const bool is_used = family.coefficients(static_cast<Index>(t)) != 0;
      if (is_used && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    const bool is_scaling = family.pairs.front().first == family.pairs.front().second;
    const auto shared = std::make_shared<const Family>(std::move(family));
    return {.name = fmt::format(
                "{} of {}", is_scaling ? "rescaling" : "change of basis", fmt::join(names, ", ")),
            .num_generators = static_cast<Index>(shared->pairs.size()),
            .generator = [views = views_, shared](Index k) {
              const auto [i, j] = shared->pairs[static_cast<std::size_t>(k)];
              return generator_of(*views, shared->terms, shared->coefficients, i, j);
            }};
  }

  std::shared_ptr<const std::vector<UnitView>> views_;
  const SearchPoints& points_;
  Index units_;
  bool is_diagonal_;
};

}  // namespace

std::vector<Invariance> unit_families(std::span<const ParameterBlock> blocks,
                                      const SearchPoints& points,
                                      Index units,
                                      Index max_units) {
  return UnitSearch(blocks, points, units, max_units).find();
}

}  // namespace hesscope::detail
