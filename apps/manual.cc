// SPDX-License-Identifier: BSD-3-Clause
#include "manual.h"

#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>

#include "completion.h"
#include "man_page.h"

namespace hesscope::cli {

std::vector<std::filesystem::path> write_manual(
    const std::filesystem::path& folder,
    const std::vector<std::unique_ptr<Command>>& commands,
    bool with_ranks) {
  std::vector<io::WholeFile> files;
  files.push_back({folder / "man/man1/hesscope.1", man_page(commands)});
  for (const auto& command : commands) {
    files.push_back({folder / fmt::format("man/man1/hesscope-{}.1", command->name()),
                     man_page(*command, commands)});
  }
  if (with_ranks) files.push_back({folder / "man/man1/hesscope-mpi.1", man_page_of_ranks()});
  files.push_back({folder / "bash-completion/completions/hesscope", bash_completion(commands)});
  files.push_back({folder / "zsh/site-functions/_hesscope", zsh_completion(commands)});
  files.push_back({folder / "fish/vendor_completions.d/hesscope.fish", fish_completion(commands)});
  std::vector<std::filesystem::path> paths;
  for (const io::WholeFile& file : files) {
    std::error_code error;
    std::filesystem::create_directories(file.destination.parent_path(), error);
    if (error) {
      throw OutputError(fmt::format("{}: cannot make the folder: {}",
                                    file.destination.parent_path().string(),
                                    error.message()));
    }
    paths.push_back(file.destination);
  }
  io::write_whole(files, io::Existing::kReplace);
  return paths;
}

}  // namespace hesscope::cli
