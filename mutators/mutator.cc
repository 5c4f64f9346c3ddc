namespace mindgate::mutators {}
