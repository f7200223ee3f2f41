"""One fixture for each row of the table of languages: a source, and what is found in it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file; its definitions as ``qualname kind lines``; its imports; the file one of them means.

    ``beside`` is that file, EXTRACTED where ``sure``.
    """

    path: str
    text: str
    symbols: tuple[str, ...]
    imports: tuple[str, ...]
    beside: str = ""
    sure: bool = False


SOURCES: dict[str, Source] = {
    "java": Source(
        path="src/main/java/shop/Till.java",
        text=(
            "package shop;\n\nimport java.util.List;\nimport static shop.tax.Rate.of;\n"
            "import shop.tax.Rate;\n\n"
            "public class Till extends Desk {\n  Till() {}\n\n  @Override\n  int pay(int x) {\n"
            "    return x;\n  }\n\n  interface Slot { void open(); }\n}\n\n"
            "record Coin(int value) {}\nenum Side { HEAD, TAIL }\n"
        ),
        symbols=(
            "Till class 7-16",
            "Till.Till method 8-8",
            "Till.pay method 10-13",
            "Till.Slot class 15-15",
            "Till.Slot.open method 15-15",
            "Coin class 18-18",
            "Side class 19-19",
        ),
        imports=("java.util.List", "shop.tax.Rate.of", "shop.tax.Rate"),
        beside="src/main/java/shop/tax/Rate.java",
    ),
    "kotlin": Source(
        path="src/shop/Till.kt",
        text=(
            "package shop\n\nimport shop.tax.Rate\nimport kotlin.io.path.Path\n\n"
            "class Till(val x: Int) : Desk() {\n    fun pay(): Int {\n"
            "        return x\n    }\n}\n\nobject Shelf {\n    fun fill() {}\n}\n\n"
            "interface Slot {\n    fun open()\n}\n\nfun top() {}\n\ntypealias Coin = Int\n"
        ),
        symbols=(
            "Till class 6-10",
            "Till.pay method 7-9",
            "Shelf class 12-14",
            "Shelf.fill method 13-13",
            "Slot class 16-18",
            "Slot.open method 17-17",
            "top function 20-20",
            "Coin type 22-22",
        ),
        imports=("shop.tax.Rate", "kotlin.io.path.Path"),
        beside="src/shop/tax/Rate.kt",
    ),
    "rust": Source(
        path="src/main.rs",
        text=(
            "use std::fmt::{self, Display};\nuse crate::tax::Rate;\n\nmod tax;\n\n"
            "pub struct Till { x: u32 }\n\nimpl Display for Till {\n"
            "    fn fmt(&self) -> fmt::Result { Ok(()) }\n}\n\nimpl<T> Shelf<T> {\n"
            "    pub async fn fill() {}\n}\n\ntrait Slot {\n    fn open(&self);\n}\n\n"
            "mod inner {\n    pub fn deep() {}\n}\n\nenum Side { Head, Tail }\ntype Coin = u32;\n"
            "macro_rules! pay { () => {} }\nfn main() {}\n"
        ),
        symbols=(
            "Till type 6-6",
            "Till class 8-10",
            "Till.fmt method 9-9",
            "Shelf class 12-14",
            "Shelf.fill method 13-13",
            "Slot class 16-18",
            "Slot.open method 17-17",
            "inner class 20-22",
            "inner.deep method 21-21",
            "Side type 24-24",
            "Coin type 25-25",
            "pay function 26-26",
            "main function 27-27",
        ),
        imports=("std::fmt::{self,Display}", "crate::tax::Rate", "./tax"),
        beside="src/tax/mod.rs",
        sure=True,
    ),
    "c": Source(
        path="src/till.c",
        text=(
            '#include <stdio.h>\n#include "tax.h"\n\n#define PAY(x) (x)\n\n'
            "struct till { int x; };\ntypedef struct { int v; } coin;\n"
            "enum side { HEAD, TAIL };\n\n"
            "static char **names(void)\n{\n  return 0;\n}\n\nint pay(int x) { return x; }\n"
        ),
        symbols=(
            "PAY function 4-5",
            "till type 6-6",
            "coin type 7-7",
            "side type 8-8",
            "names function 10-13",
            "pay function 15-15",
        ),
        imports=("stdio.h", "./tax.h"),
        beside="src/tax.h",
        sure=True,
    ),
    "cpp": Source(
        path="src/till.cpp",
        text=(
            '#include <vector>\n#include "tax/rate.hpp"\n\nnamespace shop {\n\n'
            "class Till : public Desk {\n public:\n  Till() {}\n  int pay() const { return 1; }\n"
            "  int open();\n};\n\ntemplate <class T>\nT same(T x) { return x; }\n\n}  // shop\n\n"
            "int shop::Till::open() { return 0; }\nstd::string &name() { return n; }\n"
            "using Coin = int;\n"
        ),
        symbols=(
            "shop class 4-16",
            "shop.Till class 6-11",
            "shop.Till.Till method 8-8",
            "shop.Till.pay method 9-9",
            "shop.same method 14-14",
            "shop.Till.open function 18-18",
            "name function 19-19",
            "Coin type 20-20",
        ),
        imports=("vector", "./tax/rate.hpp"),
        beside="src/tax/rate.hpp",
        sure=True,
    ),
    "c-sharp": Source(
        path="Shop/Till.cs",
        text=(
            "using System;\nusing Rates = Shop.Tax.Rate;\nusing static System.Math;\n\n"
            "namespace Shop\n{\n    public class Till : Desk\n    {\n        public Till() {}\n"
            "        public int Pay(int x) { return x; }\n        public int Left { get; set; }\n"
            "        interface ISlot { void Open(); }\n    }\n    enum Side { Head, Tail }\n"
            "    record Coin(int Value);\n}\n"
        ),
        symbols=(
            "Shop class 5-16",
            "Shop.Till class 7-13",
            "Shop.Till.Till method 9-9",
            "Shop.Till.Pay method 10-10",
            "Shop.Till.Left type 11-11",
            "Shop.Till.ISlot class 12-12",
            "Shop.Till.ISlot.Open method 12-12",
            "Shop.Side type 14-14",
            "Shop.Coin class 15-15",
        ),
        imports=("System", "Shop.Tax.Rate", "System.Math"),
        beside="Shop/Tax/Rate.cs",
    ),
    "ruby": Source(
        path="lib/till.rb",
        text=(
            'require "json"\nrequire_relative "tax/rate"\n\nmodule Shop\n  class Till < Desk\n'
            "    def pay(x)\n      x\n    end\n\n    def self.open\n    end\n  end\nend\n\n"
            "def top = 1\n"
        ),
        symbols=(
            "Shop class 4-13",
            "Shop.Till class 5-12",
            "Shop.Till.pay method 6-8",
            "Shop.Till.open method 10-11",
            "top function 15-15",
        ),
        imports=("json", "./tax/rate"),
        beside="lib/tax/rate.rb",
        sure=True,
    ),
    "php": Source(
        path="src/Till.php",
        text=(
            "<?php\nnamespace Shop;\n\nuse Psr\\Log\\Logger;\nuse Shop\\Tax\\{Rate, "
            "Sum as Total};\nrequire_once 'tax.php';\n\n"
            "class Till extends Desk {\n  function pay($x) { return $x; }\n}\n\n"
            "interface Slot { function open(); }\ntrait Wood { function knock() {} }\n"
            "enum Side { case Head; }\nfunction top() {}\n"
        ),
        symbols=(
            "Till class 8-10",
            "Till.pay method 9-9",
            "Slot class 12-12",
            "Slot.open method 12-12",
            "Wood class 13-13",
            "Wood.knock method 13-13",
            "Side class 14-14",
            "top function 15-15",
        ),
        imports=("Psr\\Log\\Logger", "Shop\\Tax\\Rate", "Shop\\Tax\\Sum", "./tax.php"),
        beside="src/tax.php",
        sure=True,
    ),
    "swift": Source(
        path="Sources/Till.swift",
        text=(
            "import Foundation\n\nclass Till: Desk {\n    init(x: Int) {}\n\n"
            "    func pay() -> Int {\n        return 1\n    }\n}\n\nstruct Coin { var x: Int }\n\n"
            "protocol Slot {\n    func open()\n}\n\nextension Till {\n    func knock() {}\n}\n\n"
            "func top() {}\n"
        ),
        symbols=(
            "Till class 3-9",
            "Till.init method 4-4",
            "Till.pay method 6-8",
            "Coin class 11-11",
            "Slot class 13-15",
            "Slot.open method 14-14",
            "Till class 17-19",
            "Till.knock method 18-18",
            "top function 21-21",
        ),
        imports=("Foundation",),
    ),
    "scala": Source(
        path="src/shop/Till.scala",
        text=(
            "package shop\n\nimport shop.tax.Rate\nimport scala.util.{Try, Success}\n\n"
            "class Till extends Desk {\n  def pay(x: Int): Int = x\n}\n\nobject Till {\n"
            "  def open() = 1\n}\n\ntrait Slot {\n  def shut: Int\n}\n\ncase class Coin(x: Int)\n"
        ),
        symbols=(
            "Till class 6-8",
            "Till.pay method 7-7",
            "Till class 10-12",
            "Till.open method 11-11",
            "Slot class 14-16",
            "Slot.shut method 15-15",
            "Coin class 18-18",
        ),
        imports=("shop.tax.Rate", "scala.util.{Try,Success}"),
        beside="src/shop/tax/Rate.scala",
    ),
    "bash": Source(
        path="bin/till.sh",
        text=(
            '#!/bin/bash\nsource ./lib.sh\n. "other.sh"\necho hello\n\n'
            "function pay {\n  echo 1\n}\n\nopen() { echo 2; }\n"
        ),
        symbols=("pay function 6-8", "open function 10-10"),
        imports=("./lib.sh", "./other.sh"),
        beside="bin/lib.sh",
        sure=True,
    ),
}
