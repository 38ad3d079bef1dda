//! A writer of XML, without namespaces except the root's.

use crate::core::document::Document;
use std::fmt::{Display, Write as _};

/// XML that is being written.
#[derive(Debug, Default)]
pub(crate) struct Xml {
    out: String,
}

impl Xml {
    pub(crate) fn into_text(self) -> String {
        self.out
    }

    /// An element with a text.
    pub(crate) fn text(&mut self, name: &str, text: impl AsRef<str>) {
        self.tag("<", name);
        self.escape(text.as_ref());
        self.tag("</", name);
    }

    /// An element with a value that implements `Display`.
    pub(crate) fn value(&mut self, name: &str, value: impl Display) {
        self.text(name, value.to_string());
    }

    /// An element with a value, if there is one.
    pub(crate) fn optional(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    /// An element around others.
    pub(crate) fn within(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.tag("<", name);
        inside(self);
        self.tag("</", name);
    }

    /// Writes a list: the element `name`, and in it one element `item` per value.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        item: &str,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.within(name, |xml| {
            for it in items {
                xml.within(item, |xml| each(xml, it));
            }
        });
    }

    /// A list of texts.
    pub(crate) fn texts<T: AsRef<str>>(
        &mut self,
        name: &str,
        item: &str,
        items: impl IntoIterator<Item = T>,
    ) {
        self.within(name, |xml| {
            for it in items {
                xml.text(item, it);
            }
        });
    }

    /// A document. `item` is the name of list elements.
    pub(crate) fn document(&mut self, name: &str, document: &Document, item: &str) {
        match document {
            Document::Text(text) => self.text(name, text),
            Document::List(items) => {
                // In launch template data only this list has another name for its elements.
                let inner = if name == "groupSet" { "groupId" } else { item };
                self.within(name, |xml| items.iter().for_each(|it| xml.document(inner, it, item)));
            }
            Document::Map(entries) => self.within(name, |xml| {
                for (name, entry) in entries {
                    xml.document(name, entry, item);
                }
            }),
        }
    }

    fn tag(&mut self, open: &str, name: &str) {
        self.out.push_str(open);
        self.out.push_str(name);
        self.out.push('>');
    }

    /// Escapes a text. Characters that XML 1.0 does not allow become U+FFFD.
    fn escape(&mut self, text: &str) {
        if text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'&' | b'<' | b'>' | b'"') || byte == b' ')
        {
            self.out.push_str(text);
            return;
        }
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\r' => self.out.push_str("&#13;"),
                '\t' | '\n' => self.out.push(c),
                '\0'..=' ' | '\u{fffe}' | '\u{ffff}' if c != ' ' => self.out.push('\u{fffd}'),
                plain => self.out.push(plain),
            }
        }
    }
}

/// A whole document: a root element with its namespace.
pub(crate) fn root(name: &str, namespace: &str, inside: &str) -> String {
    let mut out = String::with_capacity(inside.len() + 256);
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{name} xmlns=\"{namespace}\">{inside}</{name}>"
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let mut xml = Xml::default();
        xml.within("a", |xml| xml.text("b", "<&\"\u{1}>"));
        assert_eq!(xml.into_text(), "<a><b>&lt;&amp;&quot;\u{fffd}&gt;</b></a>");
    }
}
