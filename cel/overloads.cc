#include "cel/overloads.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "cel/function.h"

namespace mindgate::cel {

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
