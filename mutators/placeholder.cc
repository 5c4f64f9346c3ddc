namespace mindgate {}
