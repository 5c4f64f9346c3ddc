namespace mindgate::cli {}
