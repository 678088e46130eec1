// SPDX-License-Identifier: BSD-3-Clause
// Later versions of the interface hide addresses in tokens.
#define H5_USE_110_API
#include <new>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>

#include <hesscope/core/printable.h>
#include <hesscope/hdf5/internal/hdf5_checks.h>
#include <hesscope/hdf5/internal/hdf5_links.h>

namespace hesscope::io {
namespace {

struct LinkCollector {
  std::vector<Hdf5Link> links;
  std::size_t most;
};

extern "C" herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* collector) {
  auto& out = *static_cast<LinkCollector*>(collector);
  try {
    const bool is_hard = info->type == H5L_TYPE_HARD;
    out.links.push_back({name, is_hard, is_hard ? info->u.address : 0});
    return out.links.size() > out.most ? 1 : 0;  // 1 ends the iteration
  } catch (const std::bad_alloc&) {
    return -1;  // no exception may pass through C
  }
}

/// Two equal names would make the objects indistinguishable.
void refuse_equal_names(const std::vector<Hdf5Link>& links, const std::string& where) {
  std::unordered_set<std::string_view> names;
  names.reserve(links.size());
  for (const Hdf5Link& link : links) {
    if (!names.insert(link.name).second) {
      refuse(where, fmt::format("two of its links are named '{}'", escaped(link.name)));
    }
  }
}

}  // namespace

std::vector<Hdf5Link> links_of(hid_t group, std::size_t most, const std::string& where) {
  const Hid properties =
      checked(H5Gget_create_plist(group), H5Pclose, where, "reading its properties");
  unsigned order = 0;
  if (H5Pget_link_creation_order(properties.get(), &order) < 0)
    refuse_call(where, "reading its link order");
  const H5_index_t index =
      (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;

  LinkCollector collector{{}, most};
  if (H5Literate(group, index, H5_ITER_INC, nullptr, &collect_link, &collector) < 0) {
    refuse_call(where, "listing it");
  }
  refuse_equal_names(collector.links, where);
  return std::move(collector.links);
}

std::uint64_t address_of(hid_t object, const std::string& where) {
  H5O_info_t info{};
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) refuse_call(where, "looking for its header");
  return info.addr;
}

}  // namespace hesscope::io
