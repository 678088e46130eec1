// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include <hesscope/analyzers/record.h>
#include <hesscope/core/constants.h>

namespace hesscope {
namespace {

Record::Real array(const double* first, Eigen::Index size) {
  const Eigen::Map<const Eigen::VectorXd> values(first, size);
  return {values.allFinite() ? Status::kOk : Status::kNonFinite, {first, first + size}};
}

}  // namespace

void Record::set(const std::string& name, double value) {
  set(name, value, std::isfinite(value) ? Status::kOk : Status::kNonFinite);
}

void Record::set(const std::string& name, double value, Status status) {
  const double nan = kNaN;
  entries_[name] = Real{status, {status == Status::kOk ? value : nan}};
}

void Record::set(const std::string& name, const Eigen::Ref<const Eigen::VectorXd>& values) {
  entries_[name] = array(values.data(), values.size());
}

void Record::set_rows(const std::string& name, const Eigen::MatrixXd& values) {
  set_rows(name, values, values.allFinite() ? Status::kOk : Status::kNonFinite);
}

void Record::set_rows(const std::string& name, const Eigen::MatrixXd& values, Status status) {
  const Eigen::MatrixXd rows = values.transpose();
  entries_[name] = Real{status, {rows.data(), rows.data() + rows.size()}};
}

void Record::set_symmetric(const std::string& name, const Eigen::MatrixXd& values) {
  entries_[name] = array(values.data(), values.size());
}

void Record::set_missing(const std::string& name, Status status) {
  entries_[name] = Real{status, {}};
}

void Record::set_rest_missing(const std::vector<Quantity>& quantities, Status status) {
  for (const Quantity& quantity : quantities) {
    if (quantity.type == Quantity::Type::kFlag || entries_.contains(quantity.name)) continue;
    set_missing(quantity.name, status);
  }
}

void Record::set_count(const std::string& name, std::int64_t value) { entries_[name] = value; }

void Record::set_flag(const std::string& name, std::int8_t value) { entries_[name] = value; }

}  // namespace hesscope
