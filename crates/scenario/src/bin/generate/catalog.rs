//! The schema as a list of classes and unions with names, for pages and classes.

use serde_json::{Map, Value as Json};

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Any,
    Text,
    /// A text that is a number with a unit: `time`, `rate`, `size`, `limit`.
    Quantity(String),
    /// One of these texts.
    Names(Vec<String>),
    Integer,
    Number,
    Boolean,
    Array(Box<Type>),
    /// Names of the user's choice.
    Map(Box<Type>),
    /// A table with its own section.
    Class(String),
    /// One of several, with its own section.
    Union(String),
}

/// A table.
#[derive(Clone, Debug)]
pub struct Class {
    pub name: String,
    pub doc: String,
    /// `kind = "bulk"`.
    pub tag: Option<(String, String)>,
    /// The key that wraps it: `{ exponential = ... }`.
    pub wrap: Option<String>,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub key: String,
    pub doc: String,
    pub of: Type,
    pub required: bool,
    pub default: Option<Json>,
    pub source: Option<String>,
}

/// One of several forms.
#[derive(Clone, Debug)]
pub struct Union {
    pub name: String,
    pub doc: String,
    pub forms: Vec<(Type, String)>,
}

#[derive(Debug)]
pub struct Catalog {
    pub classes: Vec<Class>,
    pub unions: Vec<Union>,
}

struct Reader<'a> {
    root: &'a Json,
    catalog: Catalog,
    /// The keys of each class as they stand in the schema.
    keys: Vec<(String, Vec<String>)>,
}

impl Catalog {
    pub fn of(root: &Json) -> Catalog {
        let mut reader =
            Reader { root, catalog: Catalog { classes: Vec::new(), unions: Vec::new() }, keys: Vec::new() };
        reader.table(root, "Scenario");
        reader.catalog
    }

    pub fn class(&self, name: &str) -> Option<&Class> {
        self.classes.iter().find(|c| c.name == name)
    }

    pub fn union(&self, name: &str) -> Option<&Union> {
        self.unions.iter().find(|u| u.name == name)
    }
}

fn text<'a>(schema: &'a Json, key: &str) -> &'a str {
    schema.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn properties(schema: &Json) -> Option<&Map<String, Json>> {
    schema.get("properties").and_then(Json::as_object)
}

fn union_of(schema: &Json) -> Option<&Vec<Json>> {
    schema.get("oneOf").or(schema.get("anyOf")).and_then(Json::as_array)
}

/// `fat-tree` to `FatTree`.
pub fn camel(name: &str) -> String {
    let mut out = String::new();
    for part in name.split(['-', '_']) {
        let mut letters = part.chars();
        out.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// What a definition of the schema, a key or a tag is called.
fn display_name(name: &str) -> String {
    match name {
        "Overrides" | "tcp" => "Tcp".to_owned(),
        "QueueSpec" => "QueueChoice".to_owned(),
        "Distribution_of_size" => "SizeDistribution".to_owned(),
        "Distribution_of_time" => "TimeDistribution".to_owned(),
        "Cdf_of_size" | "Cdf_of_time" => "CdfDistribution".to_owned(),
        "congestion_control" => "CongestionControlChoice".to_owned(),
        "Start" => "StartChoice".to_owned(),
        "Sweep" => "Vary".to_owned(),
        "Loss" => "LossChoice".to_owned(),
        "Delay" => "DelayChoice".to_owned(),
        // `Trace` is what a capture shows.
        "trace" => "LinkTrace".to_owned(),
        "LinkRate" => "RateChoice".to_owned(),
        "Template" => "TemplateChoice".to_owned(),
        "FlowControl" => "FlowControlChoice".to_owned(),
        "CongestionManagement" => "CongestionManagementChoice".to_owned(),
        other => camel(other),
    }
}

impl Reader<'_> {
    fn resolve<'b>(&'b self, schema: &'b Json) -> (Option<&'b str>, &'b Json) {
        match schema.get("$ref").and_then(Json::as_str) {
            Some(target) => {
                let found = target.strip_prefix('#').and_then(|p| self.root.pointer(p)).unwrap_or(&Json::Null);
                (target.rsplit('/').next(), found)
            }
            None => (None, schema),
        }
    }

    /// The type of a schema that stands at `key`.
    fn of(&mut self, schema: &Json, key: &str) -> Type {
        let (name, target) = self.resolve(schema);
        let (name, target) = (display_name(name.unwrap_or(key)), target.clone());
        if let Some(members) = union_of(&target) {
            return self.union(&target, members, &name);
        }
        if let Some(constant) = target.get("const").and_then(Json::as_str) {
            return Type::Names(vec![constant.to_owned()]);
        }
        if let Some(list) = target.get("enum").and_then(Json::as_array) {
            return Type::Names(list.iter().filter_map(Json::as_str).map(str::to_owned).collect());
        }
        if target.get("x-quantity").is_some() {
            return Type::Quantity(text(&target, "x-quantity").to_owned());
        }
        match text(&target, "type") {
            "string" => Type::Text,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            "array" => Type::Array(Box::new(target.get("items").map_or(Type::Any, |items| self.of(items, key)))),
            "object" => match target.get("additionalProperties") {
                Some(inner) if inner.is_object() => Type::Map(Box::new(self.of(inner, key))),
                Some(Json::Bool(true)) if properties(&target).is_none() => Type::Map(Box::new(Type::Any)),
                _ => Type::Class(self.table(&target, &name)),
            },
            _ => Type::Any,
        }
    }

    fn union(&mut self, schema: &Json, members: &[Json], name: &str) -> Type {
        if self.catalog.unions.iter().any(|u| u.name == name) {
            return Type::Union(name.to_owned());
        }
        let place = self.catalog.unions.len();
        let doc = match name {
            // The schema has the description of the key under which it was met first.
            "CongestionControlChoice" => {
                "A name, a table with `kind` and its parameters, a class written in Python, or a program."
            }
            _ => text(schema, "description"),
        };
        self.catalog.unions.push(Union { name: name.to_owned(), doc: doc.to_owned(), forms: Vec::new() });
        let mut forms = Vec::new();
        for member in members {
            self.forms(schema, member, name, &mut forms);
        }
        self.catalog.unions[place].forms = forms;
        Type::Union(name.to_owned())
    }

    fn forms(&mut self, outer: &Json, member: &Json, name: &str, forms: &mut Vec<(Type, String)>) {
        let (reference, target) = self.resolve(member);
        let (reference, target) = (reference.map(display_name), target.clone());
        if let (Some(inner), None) = (union_of(&target), properties(&target)) {
            for member in inner.clone() {
                self.forms(outer, &member, name, forms);
            }
            return;
        }
        let doc = text(&target, "description").to_owned();
        match properties(&target) {
            Some(own) => {
                let mut whole = target.clone();
                // The common keys of a traffic entry stand before those of its kind.
                if let (Some(common), Some(map)) = (properties(outer), whole.as_object_mut()) {
                    let mut all = common.clone();
                    all.extend(own.clone());
                    map.insert("properties".to_owned(), Json::Object(all));
                    let mut required = outer.get("required").and_then(Json::as_array).cloned().unwrap_or_default();
                    required.extend(target.get("required").and_then(Json::as_array).cloned().unwrap_or_default());
                    map.insert("required".to_owned(), Json::Array(required));
                }
                let class = self.table(&whole, reference.as_deref().unwrap_or(name));
                forms.push((Type::Class(class), doc));
            }
            None => {
                let of = self.of(member, name);
                forms.push((of, doc));
            }
        }
    }

    /// A table as a class; its name follows from its tag, the key that wraps it, or `name`.
    fn table(&mut self, schema: &Json, name: &str) -> String {
        let empty = Map::new();
        let own = properties(schema).unwrap_or(&empty);
        let required: Vec<&str> =
            schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
        let tag = own.iter().find_map(|(k, v)| Some((k.clone(), v.get("const")?.as_str()?.to_owned())));
        let sole = match own.iter().next() {
            Some((key, _)) if own.len() == 1 && required == [key.as_str()] && tag.is_none() => Some(key.clone()),
            _ => None,
        };
        let choice = name.trim_end_matches("Choice");
        let mut name = match (&tag, &sole) {
            (Some((_, value)), _) if value == "none" => format!("No{choice}"),
            (Some((_, value)), _) => display_name(value),
            (_, Some(key)) => display_name(key),
            _ => name.to_owned(),
        };
        // Two choices may have a kind of one name: the congestion control and the queue `xcp`.
        let keys: Vec<String> = own.keys().cloned().collect();
        if self.keys.iter().any(|(other, theirs)| *other == name && *theirs != keys) {
            name.push_str(choice);
        }
        if self.catalog.class(&name).is_some() {
            return name;
        }
        self.keys.push((name.clone(), keys));
        let place = self.catalog.classes.len();
        let doc = text(schema, "description").to_owned();
        let class = Class { name: name.clone(), doc, tag: tag.clone(), wrap: sole.clone(), fields: Vec::new() };
        self.catalog.classes.push(class);
        // `{ pareto = { shape = ..., mean = ... } }` is one class with the inner keys.
        let inner = sole.as_ref().and_then(|key| own.get(key)).map(|s| self.resolve(s).1.clone());
        let (own, required) = match inner.as_ref().and_then(|s| Some((properties(s)?.clone(), s))) {
            Some((inner_own, s)) => {
                let list = s.get("required").and_then(Json::as_array).cloned().unwrap_or_default();
                (inner_own, list.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect::<Vec<_>>())
            }
            None => (own.clone(), required.iter().map(|r| (*r).to_owned()).collect()),
        };
        let mut fields = Vec::new();
        for (key, of) in &own {
            if tag.as_ref().is_some_and(|(tag, _)| tag == key) {
                continue;
            }
            fields.push(Field {
                key: key.clone(),
                doc: text(of, "description").to_owned(),
                of: self.of(of, key),
                required: required.contains(key),
                default: of.get("default").cloned(),
                source: of.get("x-source").and_then(Json::as_str).map(str::to_owned),
            });
        }
        fields.sort_by_key(|f| !f.required && name != "Scenario");
        self.catalog.classes[place].fields = fields;
        name
    }
}
