#include "cel/resolution.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/type_system.h"

namespace mindgate::cel {
namespace {

constexpr std::array<std::string_view, 19> kTypeNames{"bool",
                                                      "int",
                                                      "uint",
                                                      "double",
                                                      "string",
                                                      "bytes",
                                                      "list",
                                                      "map",
                                                      "null_type",
                                                      "type",
                                                      "google.protobuf.Timestamp",
                                                      "google.protobuf.Duration",
                                                      "optional_type",
                                                      "net.IP",
                                                      "net.CIDR",
                                                      "kubernetes.Quantity",
                                                      "kubernetes.Semver",
                                                      "kubernetes.URL",
                                                      "kubernetes.NamedFormat"};

}  // namespace

std::optional<std::string> PathOf(const Node& node) {
  if (node.kind == NodeKind::kIdent) return std::string(node.name);
  if (node.kind != NodeKind::kSelect || node.is_optional) return std::nullopt;
  std::vector<std::string_view> members;
  const Node* at = &node;
  for (; at->kind == NodeKind::kSelect && !at->is_optional; at = at->args[0]) {
    members.push_back(at->name);
  }
  if (at->kind != NodeKind::kIdent) return std::nullopt;
  std::string path(at->name);
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    path += ".";
    path += *member;
  }
  return path;
}

Names::Names(const Environment& environment, json::Arena& arena) : environment_(environment) {
  for (const Declaration& declared : environment.functions) {
    Overload overload;
    overload.name = arena.Text(declared.name);
    overload.signature = arena.Text(declared.signature);
    declared_.push_back(overload);
  }
  for (size_t i = 0; i < environment.variables.size(); ++i) {
    variables_.emplace(environment.variables[i].name, i);
  }
}

std::vector<std::string> Names::Candidates(std::string_view name) const {
  if (name.starts_with('.')) return {std::string(name.substr(1))};
  std::vector<std::string> candidates;
  for (std::string_view space = environment_.container; !space.empty();) {
    candidates.push_back(std::string(space) + "." + std::string(name));
    const size_t dot = space.rfind('.');
    space = dot == std::string_view::npos ? std::string_view() : space.substr(0, dot);
  }
  candidates.emplace_back(name);
  return candidates;
}

std::optional<size_t> Names::Variable(std::string_view path) const {
  for (const std::string& candidate : Candidates(path)) {
    const auto found = variables_.find(candidate);
    if (found != variables_.end()) return found->second;
  }
  return std::nullopt;
}

std::optional<std::string_view> Names::TypeName(std::string_view path) const {
  if (path.starts_with('.')) path.remove_prefix(1);
  const auto found = std::ranges::find(kTypeNames, path);
  return found == kTypeNames.end() ? std::nullopt : std::optional(*found);
}

std::span<const KnownOverload> Names::Overloads(std::string_view name) {
  auto found = overloads_.find(name);
  if (found == overloads_.end()) {
    found = overloads_.emplace(std::string(name), FindOverloads(name)).first;
  }
  return found->second;
}

std::vector<KnownOverload> Names::FindOverloads(std::string_view name) const {
  std::vector<KnownOverload> found;
  const auto add = [&found](const Overload& overload) {
    const Shape shape = ShapeOf(overload.signature);
    found.push_back({overload, shape.is_member, shape.size});
  };
  for (const std::string& candidate : Candidates(name)) {
    for (const Overload& overload : declared_) {
      if (overload.name == candidate) add(overload);
    }
    for (const std::span<const Overload> library : Libraries()) {
      for (const Overload& overload : library) {
        if (overload.name == candidate) add(overload);
      }
    }
    if (!found.empty()) break;
  }
  return found;
}

std::string Names::NearestVariable(std::string_view path,
                                   const std::vector<std::string_view>& locals) const {
  std::vector<std::string_view> known = locals;
  for (const auto& variable : environment_.variables) known.emplace_back(variable.name);
  const std::string_view root = path.substr(0, path.find('.'));
  auto nearest = NearestOf(path, known);
  if (!nearest) nearest = NearestOf(root, known);
  if (!nearest) nearest = NearestOf(root, kTypeNames);
  return nearest ? "did you mean " + std::string(*nearest) + "?" : "";
}

std::string Names::NearestFunction(std::string_view name) const {
  std::vector<std::string_view> known;
  for (const Overload& overload : declared_) known.push_back(overload.name);
  for (const std::span<const Overload> library : Libraries()) {
    for (const Overload& overload : library) {
      if (!overload.name.starts_with('_') && !overload.name.starts_with('@')) {
        known.push_back(overload.name);
      }
    }
  }
  for (const std::string_view macro :
       {"has", "all", "exists", "exists_one", "filter", "map", "cel.bind", "optMap", "optFlatMap",
        "transformList", "transformMap", "sortBy"}) {
    known.push_back(macro);
  }
  const auto nearest = NearestOf(name, known);
  return nearest ? "did you mean " + std::string(*nearest) + "?" : "";
}

// A signature with variables of types is made for each call.
const Signature* OverloadFinder::SignatureOf(const KnownOverload& overload) {
  auto& known = signatures_[overload.overload.signature];
  if (known && !known->is_generic) return &*known;
  known = ParseSignature(overload.overload.signature, types_, unifier_.next());
  return known ? &*known : nullptr;
}

bool OverloadFinder::Takes(const Signature& signature, const Node& node) {
  const size_t mark = unifier_.Mark();
  for (size_t i = 0; i < signature.size; ++i) {
    if (unifier_.Assignable(signature.arguments[i], node.args[i]->type)) continue;
    unifier_.Undo(mark);
    return false;
  }
  return true;
}

const Type* OverloadFinder::Find(Node& node, std::span<const KnownOverload> overloads) {
  std::vector<Candidate> candidates;
  const Type* result = nullptr;
  for (const KnownOverload& overload : overloads) {
    if (overload.size != node.args.size() || overload.is_member != node.is_member) continue;
    const Signature* signature = SignatureOf(overload);
    if (signature == nullptr || !Takes(*signature, node)) continue;
    Candidate candidate;
    candidate.function = overload.overload.function;
    for (size_t i = 0; i < signature->size; ++i) {
      candidate.kinds[i] = KindOf(*signature->arguments[i]).value_or(Kind::kError);
    }
    candidates.push_back(candidate);
    if (result == nullptr) {
      result = signature->result;
    } else if (TextOf(*unifier_.Apply(result)) != TextOf(*unifier_.Apply(signature->result))) {
      result = &kDyn;
    }
  }
  Candidate* row = arena_.Row<Candidate>(candidates.size());
  std::ranges::copy(candidates, row);
  node.candidates = std::span<const Candidate>(row, candidates.size());
  return result;
}

std::string NoSuchOverload(const Node& node, std::span<const std::string> types) {
  return "no such overload: " + CallOf(node.name, node.is_member, types);
}

std::string UsagesOf(std::span<const KnownOverload> overloads) {
  constexpr size_t kShown = 6;
  std::vector<std::string> usages;
  for (const KnownOverload& overload : overloads) {
    const std::string usage = UsageOf(overload.overload);
    if (std::ranges::find(usages, usage) == usages.end()) usages.push_back(usage);
  }
  return "there is " + JoinFirst(usages, kShown);
}

}  // namespace mindgate::cel
