// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <hesscope/autodiff/internal/elementary.h>
#include <hesscope/core/error.h>
#include <hesscope/structured/internal/mlp/factors.h>

namespace hesscope::detail {
namespace {

using Pack = Lanes<kPackSamples, InstructionSet::kBaseline>;
static_assert(sizeof(Pack) == kPackSamples * sizeof(double));

Pack* packs(double* data) { return reinterpret_cast<Pack*>(data); }

struct IdentityFunction {
  static Pack f(const Pack& x) { return x; }

  static Pack df(const Pack& x) { return Pack(1) + Pack(0) * x; }  // NaN for NaN

  static Pack ddf(const Pack& x) { return Pack(0) * x; }
};

template <typename Visitor>
void visit_activation(const std::optional<Elementary>& activation, Visitor visit) {
  if (!activation) return visit(IdentityFunction{});
  switch (*activation) {
    case Elementary::kGelu:
      return visit(GeluFunction{});
    case Elementary::kRelu:
      return visit(ReluFunction{});
    case Elementary::kSoftplus:
      return visit(SoftplusFunction{});
    case Elementary::kTanh:
      return visit(TanhFunction{});
    default:
      throw PreconditionError("mlp_hessian: activations are gelu, relu, softplus and tanh");
  }
}

// With r the (first) largest logit, e_j = exp(z_j - z_r) for j != r and e_r = 0, s = sum_j e_j:
//   p_r = 1 / (1 + s),  p_j = e_j / (1 + s),  1 - p_r = s / (1 + s),
//   1 - p_j = (1 + s - e_j) / (1 + s), where s - e_j >= 0 cannot cancel the 1,
//   delta_j = p_j - c_j,  E_jj = p_j (1 - p_j),  E_jk = -p_j p_k.
// Nothing is a difference of numbers near 1 (autodiff/kernels.h).
template <typename Target>
void cross_entropy(const Pack* z, Target target, int size, Pack* delta, Pack* curvature) {
  Pack maximum = z[0];
  for (int j = 1; j < size; ++j) maximum = select(maximum > z[j], maximum, z[j]);
  // At first delta_j is e_j, and the diagonal of the curvature 1 for the largest logit.
  Pack none_yet(1);
  Pack s(0);
  for (int j = 0; j < size; ++j) {
    const Pack is_largest = select(z[j] < maximum, Pack(0), none_yet);  // NaN counts as the largest
    none_yet -= is_largest;
    curvature[j * size + j] = is_largest;
    delta[j] = exp(z[j] - maximum) * (Pack(1) - is_largest);
    s += delta[j];
  }
  const Pack inverse = Pack(1) / (Pack(1) + s);
  const auto probability = [&](int j) { return (delta[j] + curvature[j * size + j]) * inverse; };
  for (int j = 0; j < size; ++j) {
    for (int k = 0; k < j; ++k) {
      curvature[j * size + k] = curvature[k * size + j] = -(probability(j) * probability(k));
    }
  }
  for (int j = 0; j < size; ++j) {
    const Pack is_largest = curvature[j * size + j];
    const Pack others = (Pack(1) - is_largest) + (s - delta[j]);
    const Pack variance = probability(j) * (others * inverse);
    const Pack c = target(j);
    delta[j] = (delta[j] + (is_largest - c) - c * s) * inverse;
    curvature[j * size + j] = variance;
  }
}

// L = sum_j (z_j - t_j)^2 / size
template <typename Target>
void mean_squared_error(const Pack* z, Target target, int size, Pack* delta, Pack* curvature) {
  const Pack scale(1.0 / size);
  std::fill(curvature, curvature + long{size} * size, Pack(0));
  for (int j = 0; j < size; ++j) {
    const Pack residual = z[j] - target(j);
    delta[j] = scale * SquareFunction::df(residual);
    curvature[j * size + j] = scale * SquareFunction::ddf(residual);
  }
}

// a := a diag(d), for a of rows x cols and d with entry j at d[j * stride]
void scale_columns(Pack* a, const Pack* d, long stride, int rows, int cols) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) a[long{i} * cols + j] *= d[j * stride];
  }
}

// One pack of samples on its way through the network and back.
class PackFiller {
 public:
  PackFiller(const MlpStructure& structure,
             const PackKernels& kernels,
             const std::vector<MlpLayer>& layers,
             const double* theta,
             Records records,
             Pack* rows,
             long stride,
             Pack* block)
      : structure_(structure),
        kernels_(kernels),
        layers_(layers),
        theta_(theta),
        records_(records),
        rows_(rows),
        stride_(stride),
        block_(block) {}

  void run() {
    forward();
    loss();
    for (std::size_t m = layers_.size(); m-- > 0;) {
      const MlpLayer& layer = layers_[m];
      for (int i = 0; i < layer.out; ++i)
        row(layer.delta_row)[i * stride_] = block_[layer.delta + i];
      curvatures(m);
      jacobians(m);
      if (m > 0) pass_down(m);
    }
  }

 private:
  static double* numbers(Pack* data) { return reinterpret_cast<double*>(data); }

  // Row r of samples; the next row is stride_ further.
  Pack* row(int r) const { return rows_ + r * stride_; }

  Pack load(Eigen::Index entry) const {
    Pack x;
    for (int lane = 0; lane < kPackSamples; ++lane) {
      const Eigen::Index record = std::min<Eigen::Index>(lane, records_.count - 1);
      x.set(lane, records_.data[record * records_.stride + entry]);
    }
    return x;
  }

  // zt, phi'(h) and phi''(h), or the last h.
  void forward() {
    for (int j = 0; j < layers_.front().in; ++j) {
      const Pack x = load(structure_.input_offset + j);
      row(layers_.front().z_row)[j * stride_] = x;
      zero_ += Pack(0) * x;
    }
    for (const MlpLayer& layer : layers_) {
      const Pack* const z = row(layer.z_row);
      row(layer.z_row + layer.in)[0] = Pack(1);
      Pack* const bend = block_ + layer.bend;
      for (int i = 0; i < layer.out; ++i) {
        Pack h(theta_[layer.bias + i]);
        const double* const w = theta_ + layer.weight + long{i} * layer.in;
        for (int j = 0; j < layer.in; ++j) h += Pack(w[j]) * z[j * stride_];
        zero_ += Pack(0) * h;
        bend[i] = h;
      }
      if (&layer == &layers_.back()) return;
      Pack* const next = row((&layer + 1)->z_row);
      Pack* const slope = row(layer.slope_row);
      visit_activation(structure_.activation, [&]<typename F>(F) {
        for (int i = 0; i < layer.out; ++i) {
          const Pack h = bend[i];
          next[i * stride_] = F::f(h);
          slope[i * stride_] = F::df(h);
          bend[i] = F::ddf(h);
        }
      });
    }
  }

  // delta and E of the last layer.
  void loss() {
    const MlpLayer& last = layers_.back();
    const Pack* const z = block_ + last.bend;
    Pack* const delta = block_ + last.delta;
    Pack* const curvature = block_ + last.curvature.back();
    const auto target = [this](int j) { return load(structure_.target_offset + j); };
    if (structure_.loss == MlpLoss::kCrossEntropy) {
      cross_entropy(z, target, last.out, delta, curvature);
    } else {
      mean_squared_error(z, target, last.out, delta, curvature);
    }
    const long size = long{last.out} * last.out;
    for (int j = 0; j < last.out; ++j) zero_ += Pack(0) * delta[j];
    for (long j = 0; j < size; ++j) zero_ += Pack(0) * curvature[j];
    for (auto lane = static_cast<int>(records_.count); lane < kPackSamples; ++lane) {
      for (int j = 0; j < last.out; ++j) delta[j].set(lane, 0);
      for (long j = 0; j < size; ++j) curvature[j].set(lane, 0);
      zero_.set(lane, 0);
    }
    for (int j = 0; j < last.out; ++j) delta[j] += zero_;
    for (long j = 0; j < size; ++j) curvature[j] += zero_;
  }

  // to = from W_{l+1} D_l, where `from` has `num_rows` rows.
  void step(long to, long from, int num_rows, std::size_t l) {
    const MlpLayer& next = layers_[l + 1];
    kernels_.multiply(numbers(block_ + to),
                      numbers(block_ + from),
                      theta_ + next.weight,
                      num_rows,
                      next.out,
                      next.in);
    scale_columns(block_ + to, row(layers_[l].slope_row), stride_, num_rows, next.in);
  }

  // E_ml for l < m
  void curvatures(std::size_t m) {
    const MlpLayer& layer = layers_[m];
    for (std::size_t l = m; l-- > 0;)
      step(layer.curvature[l], layer.curvature[l + 1], layer.out, l);
  }

  // J_ml for l < m - 1
  void jacobians(std::size_t m) {
    if (m < 2) return;
    const MlpLayer& layer = layers_[m];
    const MlpLayer& below = layers_[m - 1];
    // J_{m,m-2} = D_{m-1} W_{m-1} D_{m-2}
    const Pack* const slope = row(below.slope_row);
    const double* const w = theta_ + below.weight;
    Pack* const j = block_ + layer.jacobian[m - 2];
    for (int i = 0; i < below.out; ++i) {
      for (int a = 0; a < below.in; ++a) {
        const long entry = long{i} * below.in + a;
        j[entry] = slope[i * stride_] * Pack(w[entry]);
      }
    }
    scale_columns(j, row(layers_[m - 2].slope_row), stride_, below.out, below.in);
    for (std::size_t l = m - 2; l-- > 0;)
      step(layer.jacobian[l], layer.jacobian[l + 1], layer.in, l);
  }

  // delta_{m-1} = D_{m-1} W_m^T delta_m and
  // E_{m-1,m-1} = D_{m-1} W_m^T E_{m,m-1} + diag(phi''(h_{m-1}) . W_m^T delta_m)
  void pass_down(std::size_t m) {
    const MlpLayer& layer = layers_[m];
    const MlpLayer& below = layers_[m - 1];
    const double* const w = theta_ + layer.weight;
    const Pack* const slope = row(below.slope_row);
    const Pack* const bend = block_ + below.bend;
    Pack* const delta = block_ + below.delta;
    Pack* const curvature = block_ + below.curvature[m - 1];
    const int size = layer.in;
    kernels_.multiply_transposed(
        numbers(delta), w, numbers(block_ + layer.delta), size, layer.out, 1);
    kernels_.multiply_transposed(
        numbers(curvature), w, numbers(block_ + layer.curvature[m - 1]), size, layer.out, size);
    for (int i = 0; i < size; ++i) {
      Pack* const of_unit = curvature + long{i} * size;
      for (int a = 0; a < size; ++a) of_unit[a] *= slope[i * stride_];
      of_unit[i] += bend[i] * delta[i];
      delta[i] *= slope[i * stride_];
    }
  }

  const MlpStructure& structure_;
  const PackKernels& kernels_;
  const std::vector<MlpLayer>& layers_;
  const double* theta_;
  Records records_;  // of this pack
  Pack* rows_;
  long stride_;
  Pack* block_;
  Pack zero_{0};  // NaN in samples where something is not finite
};

}  // namespace

MlpFactors::MlpFactors(MlpStructure structure, const PackKernels& kernels)
    : structure_(std::move(structure)), kernels_(&kernels) {
  const auto& widths = structure_.widths;
  if (widths.size() < 2 || *std::min_element(widths.begin(), widths.end()) < 1 ||
      structure_.input_offset < 0 || structure_.target_offset < 0) {
    throw PreconditionError(
        "mlp_hessian: widths must be at least two, each at least 1, and offsets not negative");
  }
  const auto rows = [&](int count) { return std::exchange(num_rows_, num_rows_ + count); };
  const auto entries = [&](long count) { return std::exchange(block_size_, block_size_ + count); };
  long parameter = 0;
  for (std::size_t m = 0; m + 1 < widths.size(); ++m) {
    MlpLayer layer{};
    layer.in = static_cast<int>(widths[m]);
    layer.out = static_cast<int>(widths[m + 1]);
    layer.weight = parameter;
    layer.bias = parameter + long{layer.out} * layer.in;
    parameter = layer.bias + layer.out;
    layer.z_row = rows(layer.in + 1);
    layer.delta_row = rows(layer.out);
    layer.slope_row = rows(m + 2 < widths.size() ? layer.out : 0);
    layer.delta = entries(layer.out);
    layer.bend = entries(layer.out);
    for (std::size_t l = 0; l <= m; ++l) {
      layer.curvature.push_back(entries(widths[l + 1] * layer.out));
      if (l + 1 < m) layer.jacobian.push_back(entries(widths[l + 1] * layer.in));
    }
    layers_.push_back(std::move(layer));
  }
}

void MlpFactors::fill(std::span<const double> theta,
                      Records records,
                      int pack,
                      const MlpChunk& chunk) const {
  const Eigen::Index first = Eigen::Index{pack} * kPackSamples;
  const Records of_pack{records.data + first * records.stride,
                        std::min<Eigen::Index>(kPackSamples, records.count - first),
                        records.stride};
  PackFiller(structure_,
             *kernels_,
             layers_,
             theta.data(),
             of_pack,
             packs(chunk.rows) + pack,
             chunk.num_packs,
             packs(chunk.blocks) + pack * block_size_)
      .run();
}

}  // namespace hesscope::detail
