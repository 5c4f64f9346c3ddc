#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cel/types.h"

namespace mindgate::cel {

// What the variables of types stand for, as far as an expression says so.
class Unifier {
 public:
  explicit Unifier(Types& types) : types_(types) {}

  const Type* NewVariable() { return types_.Variable(next_++); }
  uint32_t& next() { return next_; }  // the number of the next variable

  // Whether a value of type `from` may stand where `to` is wanted. Variables learn from it.
  bool Assignable(const Type* to, const Type* from);
  // The type that both have; dyn when there is none.
  const Type* Join(const Type* a, const Type* b);

  // The type itself, if it is a variable what that stands for.
  const Type* Resolve(const Type* type) const;
  // The same for all that it is made of. What no variable stands for is dyn.
  const Type* Apply(const Type* type);

  // What was learned since a mark is forgotten.
  size_t Mark() const { return trail_.size(); }
  void Undo(size_t mark);

 private:
  const Type* BoundTo(uint32_t variable) const {
    return variable < bound_.size() ? bound_[variable] : nullptr;
  }
  void Bind(uint32_t variable, const Type* type);
  bool AssignVariable(uint32_t variable, const Type* other, bool variable_is_to);
  bool Contains(const Type* type, uint32_t variable) const;
  // Whether all that is known of `a` holds for `b`.
  bool IsLessSpecific(const Type* a, const Type* b) const;

  Types& types_;
  uint32_t next_ = 0;
  std::vector<const Type*> bound_;
  std::vector<std::pair<uint32_t, const Type*>> trail_;  // what each bound one was before
};

}  // namespace mindgate::cel
