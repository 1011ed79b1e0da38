fn main() {
    for text in std::env::args().skip(1) {
        let mut p = tree_sitter::Parser::new();
        p.set_language(&tree_sitter::Language::new(tree_sitter_bash::LANGUAGE)).unwrap();
        println!("{text}\n  {}", p.parse(&text, None).unwrap().root_node().to_sexp());
    }
}
