#pragma once

#include <utility>
#include <vector>

#include "schemas/kinds.h"
#include "schemas/site_kinds.h"

// The rows of built-in kinds and of those of a site, for whoever goes through all of them.
namespace mindgate::schemas {

// The built-in ones, then those of the site, which live as long as a copy of `site`.
inline std::vector<const KindInfo*> AllKinds(const SiteKinds& site) {
  std::vector<const KindInfo*> all;
  for (const KindInfo& info : kKinds) all.push_back(&info);
  for (size_t i = 0; i < site.size(); ++i) all.push_back(&site.info(i));
  return all;
}

// Those of a site of whose rows `keep` is true, with rows of their own.
template <typename Keep>
SiteKinds Only(const SiteKinds& site, Keep keep) {
  std::vector<SiteKind> kept;
  for (size_t i = 0; i < site.size(); ++i) {
    if (keep(site.info(i))) kept.push_back(*site.info(i).site);
  }
  return SiteKinds(std::move(kept));
}

}  // namespace mindgate::schemas
