#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "json/value.h"
#include "schemas/request.h"

namespace mindgate::schemas {

// Objects that somebody has at hand: the documents of one invocation, an application that is
// rendered. Never complete, since a cluster may have others. An object without a namespace is found
// in `default_namespace` and, since it may be cluster-scoped, without one. It keeps no copies: the
// objects must outlive it. Many threads may read it.
class KnownObjects {
 public:
  struct Known {
    const json::Value* object;
    // Tells objects of one origin from others, and is never followed; null: no particular one.
    const void* source = nullptr;
  };
  KnownObjects(const std::vector<Known>& objects, std::string default_namespace);

  // If several objects have the same name, the one from `near` wins, else the last: folders contain
  // copies.
  class Lookup final : public ObjectLookup {
   public:
    Lookup(const KnownObjects& all, const void* near) : all_(all), near_(near) {}
    const json::Value* Find(std::string_view group, std::string_view kind, std::string_view ns,
                            std::string_view name) const override;
    bool IsComplete(std::string_view, std::string_view) const override { return false; }
    void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
                 const std::function<void(const json::Value&)>& visit) const override;
    void ForEachNamed(std::string_view group, std::string_view kind, std::string_view name,
                      const std::function<void(const json::Value&)>& visit) const override;

   private:
    const KnownObjects& all_;
    const void* near_;
  };

 private:
  struct Entry {
    std::string group;
    std::string kind;
    std::string ns;
    Known known;
  };
  bool Matches(const Entry& entry, std::string_view group, std::string_view kind,
               std::string_view ns) const;

  using Names = std::set<std::string, std::less<>>;

  std::multimap<std::string, Entry, std::less<>>
      entries_;  // by name; equal names in the order given
  std::map<std::tuple<std::string, std::string, std::string>, Names, std::less<>>
      names_;  // by group, kind and namespace
  std::string default_namespace_;
};

}  // namespace mindgate::schemas
