//! Groups of nodes and the words that refer to them: `client`, `client[2]`, `client[0-3]`.

use indexmap::IndexMap;

use crate::near::hint;

/// A group: where its nodes are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub first: u32,
    pub count: u32,
    pub host: bool,
    /// Index among the hosts' (or switches') groups.
    pub index: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    by_name: IndexMap<String, Group>,
    /// Group of each node.
    of: Vec<u32>,
}

impl Groups {
    /// Returns whether a group has this name.
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Adds a group, whose nodes are the next ones.
    pub fn add(&mut self, name: &str, group: Group) {
        let entry = self.by_name.len() as u32;
        self.by_name.insert(name.to_owned(), group);
        self.of.resize(self.of.len() + group.count as usize, entry);
    }

    pub fn of_node(&self, node: u32) -> Group {
        self.by_name[self.of[node as usize] as usize]
    }

    /// The nodes that `text` means.
    pub fn members(&self, text: &str) -> Result<std::ops::Range<u32>, String> {
        let (name, inside) = match text.split_once('[') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(']').ok_or_else(|| unreadable(text))?)),
            None => (text, None),
        };
        let Some(group) = self.by_name.get(name.trim()) else {
            let names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            return Err(format!("no host or switch is called \"{}\"{}", name.escape_debug(), hint(name, &names)));
        };
        let Some(inside) = inside else { return Ok(group.first..group.first + group.count) };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| unreadable(text));
        let (low, high) = match inside.split_once('-') {
            Some((low, high)) => (number(low)?, number(high)?),
            None => (number(inside)?, number(inside)?),
        };
        if low > high || high >= group.count {
            let last = group.count - 1;
            return Err(format!("\"{text}\" does not exist: members of {name} are counted from 0 to {last}"));
        }
        Ok(group.first + low..group.first + high + 1)
    }
}

fn unreadable(text: &str) -> String {
    format!("\"{}\" is not a name like client, client[2] or client[0-3]", text.escape_debug())
}
