// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <hesscope/objective/internal/classification.h>

namespace hesscope::detail {

const DataArray* answers_of(const Model& model) {
  if (model.graph->prediction() < 0) return nullptr;
  const auto prediction = static_cast<std::size_t>(model.graph->prediction());
  const Eigen::Index size = model.graph->nodes()[prediction].size();
  const DataArray* found = nullptr;
  for (const DataArray& array : model.arrays) {
    const bool is_class = array.content == DataArray::Content::kClass;
    if (!is_class && array.content != DataArray::Content::kSign) continue;
    if (is_class && !array.shape.empty()) continue;  // several for a sample
    const bool is_sign = array.content == DataArray::Content::kSign;
    if (array.width != size || (is_sign && size != 1) || found != nullptr) return nullptr;
    found = &array;
  }
  return found;
}

bool is_correct(const Eigen::Ref<const Eigen::VectorXd>& prediction,
                const DataArray& array,
                const double* answer) {
  if (array.content == DataArray::Content::kSign) return prediction[0] * answer[0] > 0;
  const Eigen::Index right = std::max_element(answer, answer + array.width) - answer;
  if (std::isnan(prediction[right])) return false;
  for (Eigen::Index k = 0; k < array.width; ++k) {
    if (k != right && !(prediction[right] > prediction[k])) return false;
  }
  return true;
}

}  // namespace hesscope::detail
