#include "policies/references.h"

#include "base/text.h"

namespace mindgate::policies {

Reference LookUp(const RuleContext& context, Findings& findings, std::string_view group,
                 std::string_view kind, std::string_view ns, std::string_view name) {
  const schemas::ObjectLookup* objects = context.request.objects;
  Reference reference;
  if (objects != nullptr) {
    reference.object = objects->Find(group, kind, ns, name);
    reference.known = reference.object != nullptr || objects->IsComplete(group, kind);
  }
  if (!reference.known) {
    findings.Skip("needs " + std::string(kind) + " " + Quote(name) +
                  (ns.empty() ? "" : " of namespace " + Quote(ns)) + ", which is not known here");
  }
  return reference;
}

}  // namespace mindgate::policies
