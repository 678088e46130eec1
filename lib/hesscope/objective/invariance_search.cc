// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>

#include <Eigen/SVD>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/objective/invariance_search.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Units on an axis of a tensor: front x extent x back entries, units `first`, first + 1, ... of the
// extent.
struct UnitView {
  const ParameterBlock* block;
  Index front;
  Index extent;
  Index first;
  Index units;
  Index back;

  Index entry(Index f, Index unit, Index b) const {
    return block->offset + (f * extent + first + unit) * back + b;
  }

  // Row i are the entries of unit i.
  MatrixXd slices(const Eigen::Ref<const VectorXd>& theta) const {
    MatrixXd rows(units, front * back);
    for (Index f = 0; f < front; ++f) {
      for (Index i = 0; i < units; ++i) {
        for (Index b = 0; b < back; ++b) rows(i, f * back + b) = theta(entry(f, i, b));
      }
    }
    return rows;
  }
};

// An axis may be several equal parts, as queries, keys and values in one tensor, or heads.
constexpr Index kMaxParts = 6;

// All ways to see `units` on an axis: the whole axis; each of its equal parts; or, of flattened
// images, its channels with the positions behind them, or in front of them where the parts are too
// many to be told apart.
std::vector<UnitView> views_of(std::span<const ParameterBlock> blocks, Index units) {
  std::vector<UnitView> views;
  for (const ParameterBlock& block : blocks) {
    if (units == 1) {
      views.push_back({&block, 1, 1, 0, 1, block.size});
      continue;
    }
    Index front = 1;
    for (const std::int64_t extent : block.shape) {
      const Index back = block.size / (front * extent);
      const Index parts = extent / units;
      if (extent % units == 0) {
        if (parts <= kMaxParts) {
          for (Index p = 0; p < parts; ++p) {
            views.push_back({&block, front, extent, p * units, units, back});
          }
        } else {
          views.push_back({&block, front * parts, units, 0, units, back});
        }
        if (parts > 1) views.push_back({&block, front, units, 0, units, parts * back});
      }
      front *= extent;
    }
  }
  return views;
}

// The lengths that units may have: those of axes, and of their equal parts.
std::set<Index> unit_counts(std::span<const ParameterBlock> blocks) {
  std::set<Index> counts = {1};
  for (const ParameterBlock& block : blocks) {
    for (const std::int64_t extent : block.shape) {
      for (Index parts = 1; parts <= kMaxParts; ++parts) {
        if (extent % parts == 0 && extent / parts > 1) counts.insert(extent / parts);
      }
    }
  }
  return counts;
}

// A point and the gradients of samples' losses there, as columns.
struct Point {
  VectorXd theta;
  MatrixXd gradients;
};

// Of sizes that keep signals alive: a matrix's entries shrink with the root of its width.
VectorXd random_point(std::span<const ParameterBlock> blocks, std::mt19937_64& engine) {
  VectorXd theta(blocks.back().offset + blocks.back().size);
  std::normal_distribution<double> normal;
  for (const ParameterBlock& block : blocks) {
    const double rows = block.shape.size() > 1 ? static_cast<double>(block.shape.front()) : 1.0;
    const double width = static_cast<double>(block.size) / rows;
    const double scale = block.shape.size() > 1 ? 1 / std::sqrt(width) : 0.5;
    for (Index e = 0; e < block.size; ++e) theta(block.offset + e) = scale * normal(engine);
  }
  return theta;
}

// Spread over the data; points where something is not finite are passed over.
std::vector<Point> random_points(const Objective& objective,
                                 const InvarianceSearchOptions& options,
                                 std::size_t count) {
  std::mt19937_64 engine(options.seed);
  const Index num_samples = std::min(options.max_samples, objective.num_samples());
  const Index stride = objective.num_samples() / num_samples;
  std::vector<Point> points;
  for (std::size_t attempt = 0; attempt < 4 * count && points.size() < count; ++attempt) {
    Point point{random_point(objective.parameter_blocks(), engine), {}};
    point.gradients.resize(objective.num_parameters(), num_samples);
    for (Index s = 0; s < num_samples; ++s) {
      point.gradients.col(s) =
          objective.per_sample_gradients(point.theta, {s * stride, s * stride + 1});
    }
    if (point.gradients.allFinite()) points.push_back(std::move(point));
  }
  return points;
}

// --- sums of terms that vanish ---

// Terms of one candidate sum: a row for each sample at each point, a column for each term, and what a
// term's own parts are in magnitude.
struct Terms {
  MatrixXd values;
  VectorXd magnitudes;  // of columns: the root of the sum of squares of magnitudes
};

// A basis of the coefficients whose sums vanish, in reduced echelon form, to rounding.
std::vector<VectorXd> vanishing_sums(const Terms& terms) {
  // Terms of tensors without effect, as of a bias that softmax does not see, are rounding alone.
  constexpr double kNoise = 1e-12;
  std::vector<Index> live;
  for (Index t = 0; t < terms.values.cols(); ++t) {
    if (terms.magnitudes(t) > kNoise * terms.magnitudes.maxCoeff()) live.push_back(t);
  }
  const auto count = static_cast<Index>(live.size());
  if (count == 0) return {};
  // Columns of length one, so that no unit of a tensor counts.
  MatrixXd scaled(terms.values.rows(), count);
  for (Index c = 0; c < count; ++c) {
    const Index t = live[static_cast<std::size_t>(c)];
    scaled.col(c) = terms.values.col(t) / terms.magnitudes(t);
  }
  // Not by the normal equations: sums that nearly vanish must not be taken for those that do.
  const Eigen::JacobiSVD<MatrixXd> svd(scaled, Eigen::ComputeFullV);
  constexpr double kRounding = 1e-12;
  std::vector<VectorXd> rows;
  for (Index c = count; c-- > 0;) {
    if (c < svd.singularValues().size() && !(svd.singularValues()(c) < kRounding)) break;
    VectorXd row(count);
    for (Index k = 0; k < count; ++k) {
      row(k) = svd.matrixV()(k, c) / terms.magnitudes(live[static_cast<std::size_t>(k)]);
    }
    rows.push_back(row / row.cwiseAbs().maxCoeff());
  }
  std::vector<bool> is_done(rows.size());
  std::vector<VectorXd> reduced;
  for (std::size_t step = 0; step < rows.size(); ++step) {
    std::size_t pivot_row = 0;
    Index pivot = 0;
    double largest = -1;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Index place = 0;
      if (is_done[r] || rows[r].cwiseAbs().maxCoeff(&place) <= largest) continue;
      largest = std::abs(rows[r](place));
      pivot_row = r;
      pivot = place;
    }
    if (!(largest > 1e-6)) break;
    is_done[pivot_row] = true;
    rows[pivot_row] /= rows[pivot_row](pivot);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r != pivot_row) rows[r] -= rows[r](pivot) * rows[pivot_row];
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!is_done[r]) continue;
    VectorXd all = VectorXd::Zero(terms.values.cols());
    for (Index k = 0; k < count; ++k) all(live[static_cast<std::size_t>(k)]) = rows[r](k);
    reduced.push_back(std::move(all));
  }
  return reduced;
}

// Multiples of a sixth, where all are near one.
bool round_to_fractions(VectorXd& coefficients) {
  for (double& c : coefficients) {
    const double rounded = std::round(6 * c) / 6;
    if (!(std::abs(c - rounded) <= 1e-4)) return false;
    c = rounded;
  }
  return true;
}

// --- families ---

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

class Search {
 public:
  Search(const Objective& objective, const InvarianceSearchOptions& options)
      : blocks_(objective.parameter_blocks()),
        options_(options),
        num_finding_(points_to_find_with(objective, options)),
        points_(random_points(objective, options, num_finding_ + kVerifying)) {}

  bool has_points() const { return points_.size() == num_finding_ + kVerifying; }

  // One of units each way round: i = j are rescalings, others changes of basis.
  void look_at_units(Index units) {
    const auto views = std::make_shared<const std::vector<UnitView>>(views_of(blocks_, units));
    const std::vector<Products> products = products_of(*views, units);
    std::map<std::vector<double>, Family> families;
    const bool is_diagonal = looks_at_rescalings_only(*views, units);
    for (Index i = 0; i < units; ++i) {
      for (Index j = i; j < units; ++j) {
        if (i != j && is_diagonal) break;
        look_at_pair(*views, products, i, j, families);
      }
    }
    for (auto& [key, family] : families) keep(views, std::move(family));
  }

  // A number added to all units of an axis.
  void look_for_shifts() {
    std::vector<std::vector<Index>> found;
    for (const ParameterBlock& block : blocks_) {
      Index front = 1;
      for (const std::int64_t extent : block.shape) {
        const UnitView view{&block, front, extent, 0, extent, block.size / (front * extent)};
        for (Index f = 0; extent > 1 && f < view.front; ++f) {
          for (Index b = 0; b < view.back; ++b) {
            std::vector<Index> entries;
            for (Index i = 0; i < extent; ++i) entries.push_back(view.entry(f, i, b));
            if (is_shift(entries)) found.push_back(std::move(entries));
          }
        }
        front *= extent;
      }
    }
    if (found.empty()) return;
    const auto shifts = std::make_shared<const std::vector<std::vector<Index>>>(std::move(found));
    found_.push_back({.name = "shift along an axis",
                      .num_generators = static_cast<Index>(shifts->size()),
                      .generator = [shifts](Index k) {
                        AffineGenerator generator;
                        for (const Index e : (*shifts)[static_cast<std::size_t>(k)]) {
                          generator.constant.push_back({e, 1.0});
                        }
                        return generator;
                      }});
  }

  // What is added to an entry of one tensor and taken from that of another: two biases of one sum.
  void look_for_sums() {
    for (std::size_t a = 0; a < blocks_.size(); ++a) {
      for (std::size_t b = a + 1; b < blocks_.size(); ++b) {
        if (blocks_[a].size == blocks_[b].size) look_at_sum(blocks_[a], blocks_[b]);
      }
    }
  }

  std::vector<Invariance> take() { return std::move(found_); }

 private:
  static constexpr std::size_t kVerifying = 2;
  static constexpr std::size_t kMaxTerms = 160;  // of a sum; more are looked at as rescalings only

  // As many as give more equations than there are terms.
  static std::size_t points_to_find_with(const Objective& objective,
                                         const InvarianceSearchOptions& options) {
    std::size_t terms = 1;
    for (const Index units : unit_counts(objective.parameter_blocks())) {
      terms = std::max(terms, 2 * views_of(objective.parameter_blocks(), units).size());
    }
    terms = std::min(terms, kMaxTerms);
    const auto samples =
        static_cast<std::size_t>(std::min(options.max_samples, objective.num_samples()));
    return std::max<std::size_t>(3, (terms + 16) / samples + 1);
  }

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
  bool looks_at_rescalings_only(const std::vector<UnitView>& views, Index units) const {
    constexpr double kMaxWork = 3e8;  // pairs times cubes of terms: a second or two
    const auto terms = static_cast<double>(2 * views.size());
    const double pairs = 0.5 * static_cast<double>(units) * static_cast<double>(units);
    return units > options_.max_units || 2 * views.size() > kMaxTerms ||
           pairs * terms * terms * terms > kMaxWork;
  }

  std::vector<Products> products_of(const std::vector<UnitView>& views, Index units) const {
    const bool is_diagonal = looks_at_rescalings_only(views, units);
    std::vector<Products> all;
    for (const UnitView& view : views) {
      Products products;
      for (const Point& point : points_) {
        const MatrixXd slices = view.slices(point.theta);
        for (Index s = 0; s < point.gradients.cols(); ++s) {
          const MatrixXd gradient = view.slices(point.gradients.col(s));
          if (is_diagonal) {  // a column instead of the matrix
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

  void look_at_pair(const std::vector<UnitView>& views,
                    const std::vector<Products>& products,
                    Index i,
                    Index j,
                    std::map<std::vector<double>, Family>& families) const {
    std::vector<std::pair<std::size_t, bool>> terms;
    for (std::size_t v = 0; v < views.size(); ++v) {
      terms.emplace_back(v, false);
      if (i != j) terms.emplace_back(v, true);
    }
    const auto num_rows = static_cast<Index>(products.empty() ? 0 : products[0].values.size());
    const auto samples = points_[0].gradients.cols();
    const Index num_finding = static_cast<Index>(num_finding_) * samples;
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
    const Terms finding{values.topRows(num_finding),
                        magnitudes.topRows(num_finding).colwise().norm().transpose()};
    for (VectorXd coefficients : vanishing_sums(finding)) {
      if (!round_to_fractions(coefficients)) continue;
      const VectorXd sums = values * coefficients;
      const VectorXd sizes = magnitudes * coefficients.cwiseAbs();
      const bool holds = (sums.array().abs() <= options_.tolerance * sizes.array()).all();
      if (!holds || !(sizes.maxCoeff() > 0)) continue;
      const std::vector<double> key(coefficients.begin(), coefficients.end());
      Family& family = families[key];
      family.terms = terms;
      family.coefficients = coefficients;
      family.pairs.emplace_back(i, j);
    }
  }

  void keep(const std::shared_ptr<const std::vector<UnitView>>& views, Family family) {
    std::vector<std::string> names;
    for (std::size_t t = 0; t < family.terms.size(); ++t) {
      const std::string& name = (*views)[family.terms[t].first].block->name;
      const bool is_used = family.coefficients(static_cast<Index>(t)) != 0;
      if (is_used && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    const bool is_scaling = family.pairs.front().first == family.pairs.front().second;
    const auto shared = std::make_shared<const Family>(std::move(family));
    found_.push_back(
        {.name = fmt::format(
             "{} of {}", is_scaling ? "rescaling" : "change of basis", fmt::join(names, ", ")),
         .num_generators = static_cast<Index>(shared->pairs.size()),
         .generator = [views, shared](Index k) {
           const auto [i, j] = shared->pairs[static_cast<std::size_t>(k)];
           return generator_of(*views, shared->terms, shared->coefficients, i, j);
         }});
  }

  void look_at_sum(const ParameterBlock& a, const ParameterBlock& b) {
    std::vector<Index> entries;
    for (Index e = 0; e < a.size; ++e) {
      if (has_equal_slopes(a.offset + e, b.offset + e)) entries.push_back(e);
    }
    if (entries.empty()) return;
    const auto num_generators = static_cast<Index>(entries.size());
    found_.push_back(
        {.name = fmt::format("sum of {} and {}", a.name, b.name),
         .num_generators = num_generators,
         .generator = [entries = std::move(entries), first = a.offset, second = b.offset](Index k) {
           const Index e = entries[static_cast<std::size_t>(k)];
           AffineGenerator generator;
           generator.constant = {{first + e, 1.0}, {second + e, -1.0}};
           return generator;
         }});
  }

  // At all points and for all samples, and not all 0.
  bool has_equal_slopes(Index x, Index y) const {
    double largest = 0;
    for (const Point& point : points_) {
      const double scale = point.gradients.cwiseAbs().maxCoeff();
      for (Index s = 0; s < point.gradients.cols(); ++s) {
        const double size = std::abs(point.gradients(x, s)) + std::abs(point.gradients(y, s));
        const double difference = std::abs(point.gradients(x, s) - point.gradients(y, s));
        if (!(difference <= options_.tolerance * size)) return false;
        largest = std::max(largest, size / scale);
      }
    }
    return largest > 1e-12;
  }

  bool is_shift(const std::vector<Index>& entries) const {
    double largest = 0;
    for (const Point& point : points_) {
      for (Index s = 0; s < point.gradients.cols(); ++s) {
        double sum = 0;
        double size = 0;
        for (const Index e : entries) {
          sum += point.gradients(e, s);
          size += std::abs(point.gradients(e, s));
        }
        if (!(std::abs(sum) <= options_.tolerance * size)) return false;
        largest = std::max(largest, size);
      }
    }
    return largest > 0;
  }

  std::span<const ParameterBlock> blocks_;
  InvarianceSearchOptions options_;
  std::size_t num_finding_;
  std::vector<Point> points_;  // those to find with, then those to verify with
  std::vector<Invariance> found_;
};

}  // namespace

std::vector<Invariance> find_invariances(const Objective& objective,
                                         const InvarianceSearchOptions& options) {
  Search search(objective, options);
  if (!search.has_points()) return {};
  for (const Index units : unit_counts(objective.parameter_blocks())) search.look_at_units(units);
  search.look_for_shifts();
  search.look_for_sums();
  return search.take();
}

}  // namespace hesscope
