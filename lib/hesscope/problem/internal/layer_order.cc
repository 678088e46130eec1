// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/problem/internal/layer_order.h>
#include <hesscope/problem/internal/name_words.h>

namespace hesscope::detail {
namespace {

constexpr std::size_t kMaxLayers = 500;
constexpr std::size_t kMaxSteps = 5'000'000;  // per search

// A tensor's name in words.
struct Named {
  const io::TensorInfo* tensor;
  std::vector<std::string_view> words;
};

// Whether the names differ in numbers only, and the first differing one is smaller in `a`. A
// missing number comes first: dense, dense_1.
bool comes_before(const Named& a, const Named& b) {
  const std::size_t common = std::min(a.words.size(), b.words.size());
  std::size_t i = 0;
  while (i < common && a.words[i] == b.words[i]) ++i;
  if (a.words.size() + 1 == b.words.size()) {
    return is_number(b.words[i]) && std::equal(a.words.begin() + static_cast<std::ptrdiff_t>(i),
                                               a.words.end(),
                                               b.words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                               b.words.end());
  }
  if (a.words.size() != b.words.size() || i == common) return false;
  for (std::size_t k = i; k < common; ++k) {
    const bool are_numbers = is_number(a.words[k]) && is_number(b.words[k]);
    if (a.words[k] != b.words[k] && !are_numbers) return false;
  }
  return is_smaller_number(a.words[i], b.words[i]);
}

bool differ_in_one_word(const Named& a, const Named& b) {
  if (a.words.size() != b.words.size()) return false;
  std::size_t count = 0;
  for (std::size_t k = 0; k < a.words.size(); ++k) count += a.words[k] != b.words[k] ? 1 : 0;
  return count == 1;
}

constexpr std::size_t kNoBias = static_cast<std::size_t>(-1);

// A candidate for the next layer: the indices of a matrix, and of a vector or kNoBias.
struct Layer {
  std::size_t weight;
  std::size_t bias;
  bool operator==(const Layer&) const = default;
};

struct Chain {
  bool transpose = false;  // matrices are (in, out)
  std::vector<Layer> layers = {};
};

class Layers {
 public:
  explicit Layers(std::span<const io::TensorInfo> tensors) {
    for (const io::TensorInfo& tensor : tensors) {
      (tensor.shape.size() == 2 ? weights_ : biases_).push_back({&tensor, words_of(tensor.name)});
    }
    is_taken_.resize(biases_.size());
    for (const Named& weight : weights_) {
      partners_.push_back(partner_of(weight));
      if (partners_.back()) is_taken_[*partners_.back()] = true;
    }
  }

  std::int64_t size_of(std::size_t weight, bool transpose, bool is_output) const {
    return weights_[weight].tensor->shape[is_output == transpose ? 1 : 0];
  }

  // Possible input widths of a first layer.
  std::set<std::int64_t> inputs(bool transpose) const {
    std::set<std::int64_t> all;
    for (std::size_t i = 0; i < weights_.size(); ++i) all.insert(size_of(i, transpose, false));
    return all;
  }

  // The layer with this matrix and this vector at place i of the chain; its bias is kNoBias if
  // there are no vectors for the layers from there on.
  Layer layer_at(std::size_t i, std::size_t weight, std::size_t bias) const {
    const bool has_bias = i < biases_.size();
    return {weight, has_bias ? bias : kNoBias};
  }

  // Whether the layer can take `width` numbers.
  bool is_layer(const Layer& layer, bool transpose, std::int64_t width) const {
    if (layer.bias == kNoBias) {
      return !partners_[layer.weight] && size_of(layer.weight, transpose, false) == width;
    }
    const std::optional<std::size_t> partner = partners_[layer.weight];
    const bool may_go = partner ? *partner == layer.bias : !is_taken_[layer.bias];
    return may_go && size_of(layer.weight, transpose, false) == width &&
           size_of(layer.weight, transpose, true) == biases_[layer.bias].tensor->shape[0];
  }

  // All tensors in the given order, if they form a chain.
  std::optional<Chain> as_they_come(bool transpose) const {
    Chain chain{.transpose = transpose};
    std::int64_t width = size_of(0, transpose, false);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const Layer layer = layer_at(i, i, i);
      if (!is_layer(layer, transpose, width)) return std::nullopt;
      width = size_of(i, transpose, true);
      chain.layers.push_back(layer);
    }
    return chain;
  }

  // Whether no layer precedes one that comes before it by its name.
  bool is_numbered_so(const Chain& chain) const {
    for (std::size_t i = 0; i < chain.layers.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (comes_before(weights_[chain.layers[i].weight], weights_[chain.layers[k].weight])) {
          return false;
        }
        const bool have_biases = chain.layers[i].bias != kNoBias && chain.layers[k].bias != kNoBias;
        if (have_biases &&
            comes_before(biases_[chain.layers[i].bias], biases_[chain.layers[k].bias])) {
          return false;
        }
      }
    }
    return true;
  }

  std::vector<io::TensorRule> rules(const Chain& chain) const {
    std::vector<io::TensorRule> all;
    for (std::size_t i = 0; i < chain.layers.size(); ++i) {
      all.push_back({.name = fmt::format("layers.{}.weight", i),
                     .source = weights_[chain.layers[i].weight].tensor->name,
                     .transpose = chain.transpose});
      if (chain.layers[i].bias == kNoBias) continue;
      all.push_back({.name = fmt::format("layers.{}.bias", i),
                     .source = biases_[chain.layers[i].bias].tensor->name});
    }
    return all;
  }

  // What is uncertain if two chains differ.
  std::string doubt(const Chain& a, const Chain& b) const {
    if (a.transpose != b.transpose) {
      return "its matrices could all be (out, in), or all (in, out)";
    }
    const auto text = [](const Named& one, const Named& other) {
      return fmt::format(
          "'{}' and '{}' could be either way round", one.tensor->name, other.tensor->name);
    };
    std::size_t i = 0;
    while (a.layers[i] == b.layers[i]) ++i;
    return a.layers[i].weight != b.layers[i].weight
               ? text(weights_[a.layers[i].weight], weights_[b.layers[i].weight])
               : text(biases_[a.layers[i].bias], biases_[b.layers[i].bias]);
  }

  const std::vector<Named>& weights() const { return weights_; }

  const std::vector<Named>& biases() const { return biases_; }

 private:
  // The only vector whose name differs in one word, if the matrix is also the only one for that
  // vector.
  std::optional<std::size_t> partner_of(const Named& weight) const {
    const auto one_of = [](const Named& name,
                           const std::vector<Named>& all) -> std::optional<std::size_t> {
      std::optional<std::size_t> found;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!differ_in_one_word(name, all[i])) continue;
        if (found) return std::nullopt;
        found = i;
      }
      return found;
    };
    const std::optional<std::size_t> there = one_of(weight, biases_);
    return there && one_of(biases_[*there], weights_) ? there : std::nullopt;
  }

  std::vector<Named> weights_;
  std::vector<Named> biases_;
  std::vector<std::optional<std::size_t>> partners_;  // for the matrices
  std::vector<bool> is_taken_;                        // vectors that are a partner
};

// Finds up to two chains, by trying all possible next layers.
class Search {
 public:
  Search(const Layers& layers, bool by_number) : layers_(layers) {
    const auto prepare = [&](const std::vector<Named>& names, Order& order) {
      order.followers.resize(names.size());
      order.num_before.resize(names.size());
      for (std::size_t i = 0; by_number && i < names.size(); ++i) {
        for (std::size_t k = 0; k < names.size(); ++k) {
          if (!comes_before(names[i], names[k])) continue;
          order.followers[i].push_back(k);
          ++order.num_before[k];
        }
      }
    };
    prepare(layers.weights(), weights_);
    prepare(layers.biases(), biases_);
  }

  // With this number of inputs.
  std::vector<Chain> find(bool transpose, std::int64_t inputs) {
    found_.clear();
    chain_ = {.transpose = transpose};
    num_steps_ = 0;
    extend(inputs);
    return std::exchange(found_, {});
  }

  // Whether the search was aborted before it had found all chains, or two.
  bool was_cut() const { return was_cut_; }

 private:
  struct Order {
    std::vector<std::vector<std::size_t>> followers;
    std::vector<std::size_t> num_before;  // not yet placed; a placed one counts itself

    bool is_free(std::size_t i) const { return num_before[i] == 0; }

    void place(std::size_t i) {
      ++num_before[i];
      for (const std::size_t k : followers[i]) --num_before[k];
    }

    void take_back(std::size_t i) {
      --num_before[i];
      for (const std::size_t k : followers[i]) ++num_before[k];
    }
  };

  void extend(std::int64_t width) {  // NOLINT(misc-no-recursion): kMaxLayers deep
    const std::size_t num_layers = layers_.weights().size();
    if (chain_.layers.size() == num_layers) return found_.push_back(chain_);
    const std::size_t place = chain_.layers.size();
    for (std::size_t weight = 0; weight < num_layers; ++weight) {
      const bool takes_it = layers_.size_of(weight, chain_.transpose, false) == width;
      if (!takes_it || !weights_.is_free(weight)) continue;
      const std::size_t num_biases = place < layers_.biases().size() ? layers_.biases().size() : 1;
      for (std::size_t bias = 0; bias < num_biases; ++bias) {
        was_cut_ = was_cut_ || ++num_steps_ > kMaxSteps;
        if (was_cut_ || found_.size() > 1) return;
        const Layer layer = layers_.layer_at(place, weight, bias);
        const bool has_bias = layer.bias != kNoBias;
        const bool may_come = !has_bias || biases_.is_free(layer.bias);
        if (!may_come || !layers_.is_layer(layer, chain_.transpose, width)) continue;
        weights_.place(weight);
        if (has_bias) biases_.place(layer.bias);
        chain_.layers.push_back(layer);
        extend(layers_.size_of(weight, chain_.transpose, true));
        chain_.layers.pop_back();
        weights_.take_back(weight);
        if (has_bias) biases_.take_back(layer.bias);
      }
    }
  }

  const Layers& layers_;
  Order weights_;
  Order biases_;
  Chain chain_;
  std::vector<Chain> found_;
  std::size_t num_steps_ = 0;
  bool was_cut_ = false;
};

// See layers_by_shapes().
class Choice {
 public:
  Choice(const Layers& layers, const std::function<bool(const std::vector<io::TensorRule>&)>& fits)
      : layers_(layers), fits_(fits) {}

  LayerOrder choose(bool is_in_order) {
    std::vector<Chain> chains = find(true);
    const bool is_numbered = !chains.empty();
    if (!is_numbered && !was_cut_) chains = find(false);  // the numbers have another meaning
    if (was_cut_) return {.doubt = "there are too many orders in which its layers could be"};
    if (chains.empty()) return {};
    if (is_in_order && find(false).size() > 1) {
      std::vector<Chain> in_order = as_they_come();
      if (is_numbered && in_order.size() == 1 && !layers_.is_numbered_so(in_order.front())) {
        in_order.insert(in_order.begin(), chains.front());
      }
      if (!in_order.empty()) chains = std::move(in_order);
    }
    if (chains.size() == 1) return {.rules = layers_.rules(chains.front())};
    return {.doubt = layers_.doubt(chains[0], chains[1])};
  }

 private:
  // At least two, if there are more than one. Since each chain contains all layers, its beginning
  // determines its end: of those with equally many inputs, all or none fit the data.
  std::vector<Chain> find(bool by_number) {
    Search search(layers_, by_number);
    std::vector<Chain> all;
    for (const bool transpose : {false, true}) {
      for (const std::int64_t inputs : layers_.inputs(transpose)) {
        const std::vector<Chain> chains = search.find(transpose, inputs);
        if (chains.empty() || !fits_(layers_.rules(chains.front()))) continue;
        all.insert(all.end(), chains.begin(), chains.end());
      }
    }
    was_cut_ = was_cut_ || search.was_cut();
    return all;
  }

  std::vector<Chain> as_they_come() {
    std::vector<Chain> all;
    for (const bool transpose : {false, true}) {
      std::optional<Chain> chain = layers_.as_they_come(transpose);
      if (chain && fits_(layers_.rules(*chain))) all.push_back(*std::move(chain));
    }
    return all;
  }

  const Layers& layers_;
  const std::function<bool(const std::vector<io::TensorRule>&)>& fits_;
  bool was_cut_ = false;
};

}  // namespace

LayerOrder layers_by_shapes(std::span<const io::TensorInfo> tensors,
                            bool is_in_order,
                            const std::function<bool(const std::vector<io::TensorRule>&)>& fits) {
  const auto has_rank = [&](std::size_t rank) {
    return std::ranges::count_if(
        tensors, [&](const io::TensorInfo& tensor) { return tensor.shape.size() == rank; });
  };
  const auto num_layers = static_cast<std::size_t>(has_rank(2));
  const auto num_biases = static_cast<std::size_t>(has_rank(1));
  const bool may_lack_biases = num_layers > 1 && (num_biases == 0 || num_biases + 1 == num_layers);
  const bool are_layers = num_layers > 0 && tensors.size() == num_layers + num_biases &&
                          (num_biases == num_layers || may_lack_biases);
  if (!are_layers) return {};
  if (num_layers > kMaxLayers) {
    return {.doubt = fmt::format("it has {} layers; of more than {} the order is not looked for",
                                 num_layers,
                                 kMaxLayers)};
  }
  const Layers layers(tensors);
  // PyTorch stores a matrix before its vector, "weight" before "bias": a sorted list was sorted.
  const bool is_sorted = std::ranges::is_sorted(tensors, {}, &io::TensorInfo::name);
  return Choice(layers, fits).choose(is_in_order && !is_sorted);
}

bool keeps_order_of_layers(const io::TensorFile& checkpoint) { return checkpoint.format() == "pt"; }

}  // namespace hesscope::detail
