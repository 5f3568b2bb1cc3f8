//! Where links and bookmarks lead within a file.

use std::collections::HashMap;

use hayro_syntax::object::{self, Array, Dict, Name, Object, ObjectIdentifier};
use hayro_syntax::page::Page;

/// The most names of places that are read, and how deep their tree is.
const NAMES: usize = 100_000;
const DEPTH: usize = 16;

/// Which page is which.
#[derive(Debug, Default)]
pub(crate) struct PageNumbers {
    by_id: HashMap<ObjectIdentifier, usize>,
}

impl PageNumbers {
    pub(crate) fn of(pages: &[Page<'_>]) -> Self {
        let ids = pages.iter().enumerate().filter_map(|(index, page)| Some((page.raw().obj_id()?, index)));
        Self { by_id: ids.collect() }
    }
}

/// The places in a file that have names.
#[derive(Debug, Default)]
pub(crate) struct NamedPlaces {
    pages: HashMap<Vec<u8>, usize>,
}

impl NamedPlaces {
    /// Reads the names of a catalog.
    pub(crate) fn read(catalog: &Dict<'_>, numbers: &PageNumbers) -> Self {
        let mut places = Self::default();
        if let Some(old) = catalog.get::<Dict<'_>>("Dests") {
            for (name, target) in old.entries().take(NAMES) {
                let target = old.get::<Object<'_>>(name.as_ref()).or(match target {
                    object::MaybeRef::NotRef(object) => Some(object),
                    object::MaybeRef::Ref(_) => None,
                });
                places.add(name.as_ref().to_vec(), target.as_ref(), numbers);
            }
        }
        if let Some(tree) = catalog.get::<Dict<'_>>("Names").and_then(|names| names.get::<Dict<'_>>("Dests")) {
            places.read_tree(&tree, numbers);
        }
        places
    }

    fn read_tree(&mut self, root: &Dict<'_>, numbers: &PageNumbers) {
        let mut open = vec![(root.clone(), 0)];
        let mut nodes = 0;
        while let Some((node, depth)) = open.pop() {
            nodes += 1;
            if nodes > NAMES || self.pages.len() > NAMES {
                return;
            }
            if let Some(names) = node.get::<Array<'_>>("Names") {
                let mut pairs = names.iter::<Object<'_>>();
                while let (Some(name), Some(target)) = (pairs.next(), pairs.next()) {
                    if let Object::String(name) = name {
                        self.add(name.as_bytes().to_vec(), Some(&target), numbers);
                    }
                }
            }
            if depth < DEPTH
                && let Some(kids) = node.get::<Array<'_>>("Kids")
            {
                open.extend(kids.iter::<Dict<'_>>().take(NAMES - nodes.min(NAMES)).map(|kid| (kid, depth + 1)));
            }
        }
    }

    fn add(&mut self, name: Vec<u8>, target: Option<&Object<'_>>, numbers: &PageNumbers) {
        let list = match target {
            Some(Object::Array(list)) => Some(list.clone()),
            Some(Object::Dict(dict)) => dict.get::<Array<'_>>("D"),
            _ => None,
        };
        if let Some(page) = list.and_then(|list| listed_page(&list, numbers))
            && self.pages.len() < NAMES
        {
            self.pages.insert(name, page);
        }
    }
}

/// The page of an explicit destination: `[page /Fit …]`.
fn listed_page(list: &Array<'_>, numbers: &PageNumbers) -> Option<usize> {
    match list.raw_iter().next()? {
        object::MaybeRef::Ref(page) => numbers.by_id.get(&page.into()).copied(),
        object::MaybeRef::NotRef(Object::Number(number)) => usize::try_from(number.as_i64()).ok(),
        object::MaybeRef::NotRef(_) => None,
    }
}

/// The page that a destination names, in any of its forms.
pub(crate) fn destination_page(target: &Object<'_>, numbers: &PageNumbers, names: &NamedPlaces) -> Option<usize> {
    match target {
        Object::Array(list) => listed_page(list, numbers),
        Object::Name(name) => names.pages.get(name.as_ref()).copied(),
        Object::String(name) => names.pages.get(name.as_bytes()).copied(),
        Object::Dict(dict) => listed_page(&dict.get::<Array<'_>>("D")?, numbers),
        _ => None,
    }
}

/// The page that an outline entry or a link leads to within the file.
pub(crate) fn target_page(dict: &Dict<'_>, numbers: &PageNumbers, names: &NamedPlaces) -> Option<usize> {
    if let Some(target) = dict.get::<Object<'_>>("Dest") {
        return destination_page(&target, numbers, names);
    }
    let action = dict.get::<Dict<'_>>("A")?;
    let is_jump = action.get::<Name<'_>>("S").is_some_and(|kind| kind.as_str() == "GoTo");
    destination_page(&action.get::<Object<'_>>("D").filter(|_| is_jump)?, numbers, names)
}
