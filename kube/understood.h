#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "json/arena.h"
#include "json/value.h"

// What tenants write into objects is free text in many places where Kubernetes expects a name: the
// API server checks neither the name nor the kind nor the apiVersion of an ownerReference
// (kubernetes: apimachinery/pkg/api/validation/objectmeta.go), and an annotation may have 256 KiB.
// Whoever reads objects of a cluster gets them through Understand, so that no reader has to check.
namespace mindgate::kube {

// Of a name: no name of Kubernetes is longer (RFC 1123 subdomain).
inline constexpr size_t kMaxName = 253;
// Of any other text. The longest that MindCluster or Volcano write on a pod has some 200 bytes.
inline constexpr size_t kMaxValue = 1024;

// No longer than a name, and no control characters in it. What PathOf makes of it is one segment.
bool IsName(std::string_view text);
// No longer than a value, and no control characters in it but tabs and ends of lines.
bool IsValue(std::string_view text);

struct Understood {
  // The object; nothing where its own name or namespace is none.
  std::optional<json::Value> object{};
  size_t bytes = 0;       // of its texts, without `data`
  std::string problem{};  // what of it was left out first: a path and why; empty: all is there
};

// The object without texts that are not understood: each is null, which readers take for absent. A
// name is a text whose key ends with "name", or is "apiVersion", "kind", "namespace" or "uid". An
// item of a list without its name is null as a whole: an owner is one that can be found, or none.
// `data` and `binaryData` of a ConfigMap or Secret stay: they are documents, and their readers have
// limits of their own.
//
// What is null takes rows in `arena`. All else is a view of what `object` is a view of.
Understood Understand(const json::Value& object, json::Arena& arena);

}  // namespace mindgate::kube
