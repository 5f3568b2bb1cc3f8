//! The links of a page: where they are, and where they lead.

use crate::content::PageWord;
use crate::geometry::PageBox;

/// The links of a page.
#[derive(Debug, Default)]
pub(crate) struct PageLinks {
    links: Vec<PageLink>,
}

/// A link: a place on the page, and an address.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageLink {
    pub(crate) place: PageBox,
    pub(crate) url: String,
}

impl PageLinks {
    /// Links, of which the first counts where two overlap.
    pub(crate) fn new(mut links: Vec<PageLink>) -> Self {
        links.sort_by(|a, b| a.place.y0.total_cmp(&b.place.y0));
        Self { links }
    }

    /// The link that a word is in.
    pub(crate) fn of_word(&self, word: &PageWord) -> Option<usize> {
        if self.links.is_empty() {
            return None;
        }
        // Back from the frame that the line is read in to the page.
        let (x, y) = word.frame.turn_back(word.place.center());
        let below = self.links.partition_point(|link| link.place.y0 <= y);
        let near = &self.links[..below];
        // Links are a few lines high: those that begin far above do not reach here.
        let nearest = near.iter().enumerate().rev().take(256);
        nearest.into_iter().find(|(_, link)| link.place.has((x, y))).map(|(at, _)| at)
    }

    /// Where a link leads.
    pub(crate) fn url(&self, link: usize) -> &str {
        self.links.get(link).map_or("", |link| link.url.as_str())
    }

    /// The link of a picture.
    pub(crate) fn of_place(&self, place: PageBox) -> Option<&str> {
        self.links.iter().find(|link| link.place.has(place.center())).map(|link| link.url.as_str())
    }
}
