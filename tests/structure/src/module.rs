//! The modules of one target: which file each is in, which names it defines, imports and mentions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Meta, UseTree, Visibility};

/// A path as written, one string a segment.
pub type Segments = Vec<String>;

/// One module, in a file of its own or inline.
#[derive(Debug, Default)]
pub struct Module {
    /// Which of [`Modules::files`] it is in.
    pub file: usize,
    /// The module that declares it; the root has none.
    pub parent: Option<usize>,
    /// The modules that it declares.
    pub children: HashMap<String, usize>,
    /// Items that it defines, and the file of each: macros with `#[macro_export]` are at the root.
    pub items: HashMap<String, usize>,
    /// Names that it imports or re-exports.
    pub aliases: HashMap<String, Segments>,
    /// Paths that end in `*`.
    pub globs: Vec<Segments>,
    /// Paths that its code uses; a re-export alone is none.
    pub uses: Vec<Segments>,
}

/// The modules of a target, its root first.
#[derive(Debug, Default)]
pub struct Modules {
    /// Every module, in the order of their declarations.
    pub list: Vec<Module>,
    /// The source files.
    pub files: Vec<PathBuf>,
}

impl Modules {
    /// Reads `root`, a target's first file, and all modules below it; code for tests alone is left out.
    pub fn load(root: &Path) -> Result<Self> {
        let mut modules = Self::default();
        let folder = root.parent().context("a source file without a folder")?.to_owned();
        modules.read_file(root, &folder, None)?;
        Ok(modules)
    }

    /// Reads a module's file; its own modules are in `folder`. Returns the module's number.
    fn read_file(&mut self, path: &Path, folder: &Path, parent: Option<usize>) -> Result<usize> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let syntax = syn::parse_file(&text).with_context(|| path.display().to_string())?;
        self.files.push(path.to_owned());
        let file = self.files.len() - 1;
        let module = self.add(file, parent);
        let beside = path.parent().unwrap_or(folder).to_owned();
        self.read_items(module, &syntax.items, folder, &beside)?;
        Ok(module)
    }

    fn add(&mut self, file: usize, parent: Option<usize>) -> usize {
        self.list.push(Module { file, parent, ..Module::default() });
        self.list.len() - 1
    }

    fn read_items(&mut self, module: usize, items: &[Item], folder: &Path, beside: &Path) -> Result<()> {
        for item in items {
            if is_for_tests(attributes(item)) {
                continue;
            }
            if let Item::Mod(declared) = item {
                let child = self.read_module(module, declared, folder, beside)?;
                self.list[module].children.insert(declared.ident.to_string(), child);
                continue;
            }
            if let Some(name) = defined_name(item) {
                let exported = attributes(item).iter().any(|a| a.path().is_ident("macro_export"));
                let file = self.list[module].file;
                self.list[if exported { 0 } else { module }].items.insert(name, file);
            }
            Mentions(&mut self.list[module]).visit_item(item);
        }
        Ok(())
    }

    fn read_module(
        &mut self,
        parent: usize,
        declared: &ItemMod,
        folder: &Path,
        beside: &Path,
    ) -> Result<usize> {
        let name = declared.ident.to_string();
        let below = folder.join(&name);
        if let Some((_, items)) = &declared.content {
            let child = self.add(self.list[parent].file, Some(parent));
            self.read_items(child, items, &below, &below)?;
            return Ok(child);
        }
        if let Some(path) = path_attribute(&declared.attrs) {
            let path = beside.join(path);
            let folder = path.parent().unwrap_or(beside).to_owned();
            return self.read_file(&path, &folder, Some(parent));
        }
        let flat = folder.join(format!("{name}.rs"));
        let path = if flat.exists() { flat } else { below.join("mod.rs") };
        self.read_file(&path, &below, Some(parent))
    }
}

/// Notes in a module what its code imports and mentions.
struct Mentions<'a>(&'a mut Module);

impl Mentions<'_> {
    fn note_use(&mut self, tree: &UseTree, prefix: &mut Segments, is_import: bool) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.note_use(&path.tree, prefix, is_import);
                prefix.pop();
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.note_use(tree, prefix, is_import));
            }
            UseTree::Glob(_) => {
                self.0.globs.push(prefix.clone());
                if is_import {
                    self.0.uses.push(prefix.clone());
                }
            }
            UseTree::Name(name) => self.note_name(prefix, &name.ident.to_string(), None, is_import),
            UseTree::Rename(name) => {
                self.note_name(prefix, &name.ident.to_string(), Some(name.rename.to_string()), is_import);
            }
        }
    }

    fn note_name(&mut self, prefix: &Segments, name: &str, rename: Option<String>, is_import: bool) {
        let mut path = prefix.clone();
        if name != "self" {
            path.push(name.to_owned());
        }
        if is_import {
            self.0.uses.push(path.clone());
        }
        if let Some(alias) = rename.or_else(|| path.last().cloned()) {
            self.0.aliases.insert(alias, path);
        }
    }

    /// Notes the paths of more than one segment among the tokens of a macro's call.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path = Segments::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.note_path(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && colons < 2 => colons += 1,
                TokenTree::Group(group) => {
                    self.note_path(&mut path);
                    self.note_tokens(group.stream());
                }
                _ => self.note_path(&mut path),
            }
        }
        self.note_path(&mut path);
    }

    fn note_path(&mut self, path: &mut Segments) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.0.uses.push(path);
        }
    }
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            let is_import = matches!(item.vis, Visibility::Inherited);
            self.note_use(&item.tree, &mut Segments::new(), is_import);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.0.uses.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.note_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn defined_name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Whether an item is compiled for tests and models alone: `#[cfg(test)]`, `#[cfg(all(loom, test))]`, `#[test]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let words = list.tokens.to_string();
            let mut words = words.split(|c: char| !c.is_alphanumeric());
            words.clone().all(|word| word != "not" && word != "any") && words.any(|word| word == "test")
        }
        meta => meta.path().is_ident("test"),
    })
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}
