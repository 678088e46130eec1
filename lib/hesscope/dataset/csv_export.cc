// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/internal/exports.h>
#include <hesscope/dataset/internal/landscape_grid.h>
#include <hesscope/storage/atomic_file.h>

namespace hesscope::io {
namespace {

// In quotes if it contains a character with a special meaning.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result;
  result.push_back('"');
  for (const char c : text) {
    if (c == '"') result.push_back('"');
    result.push_back(c);
  }
  result.push_back('"');
  return result;
}

std::string cell(const std::string& text) { return quoted(text); }

std::string cell(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);  // whatever its sign bit
}

std::string cell(std::int64_t value) {
  return value == kMissingCount ? std::string() : fmt::format("{}", value);
}

std::string cell(std::int8_t flag) { return cell(std::int64_t{flag}); }

/// All columns have the same length.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;

  template <typename T>
  void add(const std::string& name, const std::vector<T>& values) {
    names.push_back(quoted(name));
    std::vector<std::string>& cells = columns.emplace_back();
    for (const T& value : values) cells.push_back(cell(value));
  }

  std::string text() const {
    std::string result;
    const auto end_line = [&result] { result.back() = '\n'; };
    for (const std::string& name : names) result.append(name).push_back(',');
    end_line();
    for (std::size_t row = 0; row < columns.front().size(); ++row) {
      for (const auto& column : columns) result.append(column[row]).push_back(',');
      end_line();
    }
    return result;
  }
};

Table table_of(const LandscapeGrid& grid) {
  std::vector<double> alpha;
  std::vector<double> beta;
  for (const double b : grid.beta) {
    for (const double a : grid.alpha) {
      alpha.push_back(a);
      beta.push_back(b);
    }
  }
  Table table;
  table.add("alpha", alpha);
  table.add("beta", beta);
  for (const auto& [name, values] : grid.fields) table.add(name, values);
  return table;
}

// Whether a group merely repeats the variable from the root, as a coordinate of its other
// variables.
bool is_repeated(const Group& group, const Variable& variable) {
  const auto refers_to_it = [&](const Variable& v) {
    return std::find(v.coordinates.begin(), v.coordinates.end(), variable.name) !=
           v.coordinates.end();
  };
  return !group.name.empty() &&
         std::any_of(group.variables.begin(), group.variables.end(), refers_to_it);
}

const std::string kImage = "image";

// What a line stands for: an image of a path, a step of a history, or else a checkpoint.
std::string dimension_of_lines(const ResultReader& result) {
  const auto is_along =
      [&result](const std::string& group, const std::string& name, const std::string& dimension) {
        const Variable* const found = result.find(group, name);
        return found != nullptr && found->dimensions == std::vector<std::string>{dimension};
      };
  if (is_along(kPathGroup, "arc_length", kImage)) return kImage;
  return is_along("", "step", "step") ? "step" : "checkpoint";
}

// Whether it has one value per line; a status counts only together with its variable.
bool is_number_of_line(const Group& group, const Variable& variable, const std::string& dimension) {
  const auto has_shape = [&](const Variable& v) {
    return v.type != VariableType::kOther && v.dimensions == std::vector<std::string>{dimension};
  };
  const auto is_of_another_shape = [&](const Variable& v) {
    return v.ancillary_variables == variable.name && !has_shape(v);
  };
  return has_shape(variable) && !is_repeated(group, variable) &&
         std::none_of(group.variables.begin(), group.variables.end(), is_of_another_shape);
}

Table table_of_lines(const ResultReader& result) {
  Table table;
  const std::string dimension = dimension_of_lines(result);
  for (const Group& group : result.groups()) {
    for (const Variable& variable : group.variables) {
      if (!is_number_of_line(group, variable, dimension)) continue;
      const std::string name =
          group.name.empty() ? variable.name : fmt::format("{}/{}", group.name, variable.name);
      std::visit([&](const auto& values) { table.add(name, values); },
                 result.read(group.name, variable.name).values);
      const std::size_t expected = table.columns.front().size();
      if (table.columns.back().size() == expected) continue;
      throw InputError(
          fmt::format("{}: variable '{}/{}': {} values where others of a {} have {}; compute the "
                      "result again",
                      result.path().string(),
                      group.name,
                      variable.name,
                      table.columns.back().size(),
                      dimension,
                      expected));
    }
  }
  if (table.columns.empty()) {
    throw InputError(
        fmt::format("{}: holds neither a landscape nor numbers of checkpoints, steps or images",
                    result.path().string()));
  }
  if (table.columns.size() == 1) {
    throw InputError(fmt::format(
        "{}: holds no number for each {}, but numbers with more dimensions, which no table has; "
        "read them from the file itself, by xarray or h5py",
        result.path().string(),
        dimension));
  }
  return table;
}

Table table_of(const LandscapeTrajectory& trajectory) {
  Table table;
  table.add("step", trajectory.steps);
  table.add("alpha", trajectory.alpha);
  table.add("beta", trajectory.beta);
  table.add("residual", trajectory.residual);
  table.add("loss", trajectory.loss);
  table.add("run", trajectory.runs);
  return table;
}

std::vector<std::filesystem::path> write_csv(const ResultReader& result,
                                             const std::filesystem::path& output,
                                             Existing existing) {
  if (!has_landscape(result)) {
    write_whole(output, table_of_lines(result).text(), existing);
    return {output};
  }
  const LandscapeTrajectory trajectory = read_trajectory(result);
  return write_landscape(result,
                         output,
                         existing,
                         table_of(read_landscape(result)).text(),
                         trajectory.size() == 0 ? "" : table_of(trajectory).text());
}

}  // namespace

ExportKind csv_export_kind() {
  return {
      "csv",
      ".csv",
      "comma-separated values: a line for each grid point, checkpoint, step of a history or image "
      "of a path, without arrays; flags are their codes",
      write_csv,
      {"alpha,beta,", "step,", "path/"},
      kTrajectorySuffix};
}

}  // namespace hesscope::io
