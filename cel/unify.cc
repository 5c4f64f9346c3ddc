#include "cel/unify.h"

namespace mindgate::cel {
namespace {

// Null may stand for what is neither a plain value nor a collection.
bool IsNullable(const Type& type) {
  return !type.variable && &TypeOfScalar(KindOf(type).value_or(Kind::kError)) == &kDyn &&
         !type.is("list") && !type.is("map") && !type.is("type") && !type.is_dyn();
}

}  // namespace

const Type* Unifier::Resolve(const Type* type) const {
  while (type->variable) {
    const Type* bound = BoundTo(*type->variable);
    if (bound == nullptr) return type;
    type = bound;
  }
  return type;
}

void Unifier::Bind(uint32_t variable, const Type* type) {
  if (variable >= bound_.size()) bound_.resize(variable + 1);
  trail_.emplace_back(variable, bound_[variable]);
  bound_[variable] = type;
}

void Unifier::Undo(size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    bound_[trail_.back().first] = trail_.back().second;
  }
}

bool Unifier::Contains(const Type* type, uint32_t variable) const {
  type = Resolve(type);
  if (type->variable) return *type->variable == variable;
  for (const Type* part : type->of) {
    if (Contains(part, variable)) return true;
  }
  return false;
}

bool Unifier::AssignVariable(uint32_t variable, const Type* other, bool variable_is_to) {
  const Type* bound = BoundTo(variable);
  if (bound == nullptr) {
    other = Resolve(other);
    if (other->variable == variable) return true;
    if (Contains(other, variable)) return false;
    Bind(variable, other);
    return true;
  }
  if (!(variable_is_to ? Assignable(bound, other) : Assignable(other, bound))) return false;
  const Type* resolved = Resolve(other);
  if (IsLessSpecific(resolved, Resolve(bound)) && !Contains(resolved, variable)) {
    Bind(variable, resolved);
  }
  return true;
}

bool Unifier::Assignable(const Type* to, const Type* from) {
  if (to == from) return true;
  if (to->variable) return AssignVariable(*to->variable, from, true);
  if (from->variable) return AssignVariable(*from->variable, to, false);
  if (to->is_dyn() || from->is_dyn()) return true;
  if (from->is("null_type") && IsNullable(*to)) return true;
  if (to->is("null_type") && IsNullable(*from)) return true;
  if (to->name != from->name) return false;
  if (to->is("type")) return true;
  if (to->of.size() != from->of.size()) return false;
  for (size_t i = 0; i < to->of.size(); ++i) {
    if (!Assignable(to->of[i], from->of[i])) return false;
  }
  return true;
}

bool Unifier::IsLessSpecific(const Type* a, const Type* b) const {
  a = Resolve(a);
  b = Resolve(b);
  if (a->variable || a->is_dyn()) return true;
  if (b->variable || b->is_dyn()) return false;
  if (b->is("null_type") && IsNullable(*a)) return true;
  if (a->name != b->name || a->of.size() != b->of.size()) return false;
  for (size_t i = 0; i < a->of.size(); ++i) {
    if (!IsLessSpecific(a->of[i], b->of[i])) return false;
  }
  return true;
}

const Type* Unifier::Join(const Type* a, const Type* b) {
  const size_t mark = Mark();
  if (!Assignable(a, b)) {
    Undo(mark);
    return &kDyn;
  }
  return IsLessSpecific(a, b) ? a : b;
}

const Type* Unifier::Apply(const Type* type) {
  type = Resolve(type);
  if (type->variable) return &kDyn;
  if (type->of.empty()) return type;
  std::vector<const Type*> of;
  for (const Type* part : type->of) of.push_back(Apply(part));
  return types_.With(*type, of);
}

}  // namespace mindgate::cel
