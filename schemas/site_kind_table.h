#pragma once

#include "schemas/field_types.h"
#include "schemas/site_kinds.h"

namespace mindgate::schemas {

// The value of `kinds` in mindgate.yaml: rows of kinds, and names of shipped ones
// (shipped_kinds.h). Every row is checked: its routes are sound and lead to templates, its names
// are those that the API server takes, no two rows are of one kind, none is of a built-in one, and
// what it makes is known.
Type<SiteKinds> SiteKindsTable();

// One row of it, without the key `use`.
Type<SiteKind> SiteKindTable();

}  // namespace mindgate::schemas
