// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <hesscope/mpi/internal/scalapack.h>
#include <hesscope/mpi/internal/scalapack_matrix.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

Tridiagonal ScalapackMatrix::tridiagonalize() {
  std::vector<double> diagonal;
  std::vector<double> off_diagonal;
  team().together([&] {
    t_ = {VectorXd::Zero(num_rows()), VectorXd::Zero(num_rows() - 1)};
    work_ = entries();
    const auto cols = std::max<std::size_t>(1, to_size(local_cols()));
    for (auto* each : {&diagonal, &off_diagonal, &tau_}) each->resize(cols);
  });
  run_with_workspace("pdsytrd", [&](double* work, int size) {
    const int n = to_int(num_rows());
    const Descriptor desc = descriptor(num_rows());
    int info = 0;
    pdsytrd_("L",
             &n,
             work_.data(),
             &kOne,
             &kOne,
             desc.data(),
             diagonal.data(),
             off_diagonal.data(),
             tau_.data(),
             work,
             &size,
             &info);
    return info;
  });
  // The matrix holds T in its place.
  for_each_entry(work_, [&](Index i, Index j, double entry) {
    if (i == j) t_.diagonal[j] = entry;
    if (i == j + 1) t_.off_diagonal[j] = entry;
  });
  gather(t_.diagonal.data(), num_rows());
  gather(t_.off_diagonal.data(), num_rows() - 1);
  Tridiagonal t;
  team().together([&] { t = t_; });
  return t;
}

void ScalapackMatrix::multiply_by_q(std::vector<double>& part, Index cols) {
  run_with_workspace("pdormtr", [&](double* work, int size) {
    const int n = to_int(num_rows());
    const int k = to_int(cols);
    const Descriptor of_h = descriptor(num_rows());
    const Descriptor of_v = descriptor(cols);
    int info = 0;
    pdormtr_("L",
             "L",
             "N",
             &n,
             &k,
             work_.data(),
             &kOne,
             &kOne,
             of_h.data(),
             tau_.data(),
             part.data(),
             &kOne,
             &kOne,
             of_v.data(),
             work,
             &size,
             &info);
    return info;
  });
}

MatrixXd ScalapackMatrix::apply_q(const MatrixXd& v) {
  std::vector<double> part;
  team().together([&] { part = local_part(v); });
  multiply_by_q(part, v.cols());
  return whole_of(part, v.cols());
}

void ScalapackMatrix::multiply_by_h(const std::vector<double>& part,
                                    Index cols,
                                    std::vector<double>& product) const {
  on_grid([&] {
    const int n = to_int(num_rows());
    const int k = to_int(cols);
    const double one = 1.0;
    const double zero = 0.0;
    const Descriptor of_h = descriptor(num_rows());
    const Descriptor of_v = descriptor(cols);
    pdsymm_("L",
            "L",
            &n,
            &k,
            &one,
            entries().data(),
            &kOne,
            &kOne,
            of_h.data(),
            part.data(),
            &kOne,
            &kOne,
            of_v.data(),
            &zero,
            product.data(),
            &kOne,
            &kOne,
            of_v.data());
  });
}

MatrixXd ScalapackMatrix::times(const MatrixXd& v) const {
  return product_of(v, [&](const std::vector<double>& part, std::vector<double>& product) {
    multiply_by_h(part, v.cols(), product);
  });
}

bool ScalapackMatrix::find_vectors() {
  std::vector<double> diagonal;
  std::vector<double> off_diagonal;
  team().together([&] {
    vectors_.resize(entries().size());
    diagonal.assign(t_.diagonal.begin(), t_.diagonal.end());
    off_diagonal.assign(t_.off_diagonal.begin(), t_.off_diagonal.end());
    off_diagonal.resize(to_size(num_rows()));
  });
  int failed_at = 0;
  const auto find = [&](double* work, int size, int* integers, int num_integers) {
    const int n = to_int(num_rows());
    const Descriptor desc = descriptor(num_rows());
    pdstedc_("I",
             &n,
             diagonal.data(),
             off_diagonal.data(),
             vectors_.data(),
             &kOne,
             &kOne,
             desc.data(),
             work,
             &size,
             integers,
             &num_integers,
             &failed_at);
    require_accepted("pdstedc", failed_at);
  };
  double size = 0.0;
  int num_integers = 0;
  on_grid([&] { find(&size, -1, &num_integers, -1); });
  {
    std::vector<double> work;
    std::vector<int> integers;
    // pdstedc reports too little if a process has few columns, compared with what pdlasrt needs at
    // the end, or no rows: pdlaed1 lays out its arrays as if it had one.
    const Index merged = 6 * num_rows() + 2 * std::max<Index>(1, local_rows()) * local_cols();
    const Index sorted = local_rows() * (BlockCyclic::kBlock + local_cols());
    const Index least = std::max(merged, sorted);
    on_grid([&] {
      work.resize(std::max(to_size(least), static_cast<std::size_t>(size)));
      integers.resize(std::max<std::size_t>(1, to_size(num_integers)));
    });
    on_grid([&] {
      find(work.data(), to_int(std::ssize(work)), integers.data(), to_int(std::ssize(integers)));
    });
  }
  if (team().smallest(failed_at == 0 ? 1 : 0) == 0) return false;
  multiply_by_q(vectors_, num_rows());
  return true;
}

DistributedMatrix::VectorErrors ScalapackMatrix::vector_errors(const VectorXd& values) {
  if (!find_vectors()) return {};
  VectorErrors errors;
  errors.residual = residual_of_vectors(values);
  errors.orthogonality = orthogonality_of_vectors();
  return errors;
}

double ScalapackMatrix::residual_of_vectors(const VectorXd& values) {
  multiply_by_h(vectors_, num_rows(), work_);
  double squares = 0.0;
  for (Index c = 0; c < local_cols(); ++c) {
    const auto begin = to_size(c * local_rows());
    const double value = values[layout().global(c, col())];
    double column = 0.0;
    for (std::size_t k = begin; k < begin + to_size(local_rows()); ++k) {
      const double difference = work_[k] - value * vectors_[k];
      column += difference * difference;
    }
    squares += column;
  }
  return norm_on_ranks(squares);
}

double ScalapackMatrix::orthogonality_of_vectors() {
  on_grid([&] {
    const int n = to_int(num_rows());
    const double one = 1.0;
    const double zero = 0.0;
    const Descriptor desc = descriptor(num_rows());
    pdsyrk_("L",
            "T",
            &n,
            &n,
            &one,
            vectors_.data(),
            &kOne,
            &kOne,
            desc.data(),
            &zero,
            work_.data(),
            &kOne,
            &kOne,
            desc.data());
  });
  for_each_entry(work_, [](Index i, Index j, double& entry) {
    if (i == j) entry -= 1.0;
  });
  return norm_of_lower(work_);
}

bool ScalapackMatrix::is_positive_definite(double sign, double shift) {
  team().together([&] {
    work_ = entries();
    for_each_entry(work_, [&](Index i, Index j, double& entry) {
      entry = sign * (i == j ? entry - shift : entry);
    });
  });
  int failed_at = 0;
  on_grid([&] {
    const int n = to_int(num_rows());
    const Descriptor desc = descriptor(num_rows());
    pdpotrf_("L", &n, work_.data(), &kOne, &kOne, desc.data(), &failed_at);
    require_accepted("pdpotrf", failed_at);
  });
  team().broadcast(0, std::as_writable_bytes(std::span(&failed_at, 1)));
  return failed_at == 0;
}

}  // namespace hesscope::detail
