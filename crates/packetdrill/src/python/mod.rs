//! The Python between `%{` and `}%`, as far as scripts use it: assignments, `assert`, `print`, and expressions of numbers, texts,
//! comparisons, `and`, `or`, `not` and a few functions. Names stay known from one piece of code to the next, as they do in
//! packetdrill, where all pieces are one program.

mod eval;
mod read;

pub use eval::{Failure, Scope};
pub use read::{Program, program};

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Literal(Item),
    Name(String),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Inverse(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// `a < b <= c`.
    Chain(Box<Expr>, Vec<(Comparison, Expr)>),
    /// `a if test else b`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    Tuple(Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    In,
    NotIn,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    Tuple(Vec<Item>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Assert { test: Expr, text: String, message: Option<Expr> },
    Assign(String, Expr),
    Evaluate(Expr),
}
