//! What the control words of a rich text do.

use super::code_pages::of_code_page;
use super::group_state::{ParagraphState, RtfDestination, RtfProperty};
use super::rtf_document::{RtfDocument, TextKind};
use super::rtf_picture::RtfPicture;
use super::rtf_table::CellBound;
use crate::rich_text::{RunFormat, TableGrid, VerticalMerge};

impl RtfDocument<'_> {
    /// Takes a control word.
    pub(super) fn word(&mut self, word: &[u8], number: Option<i32>) {
        let on = number != Some(0);
        let value = number.unwrap_or(0);
        let optional = std::mem::take(&mut self.state.optional);
        if self.destination_word(word) {
            return;
        }
        if optional {
            self.state.destination = RtfDestination::Skipped;
            return;
        }
        let state = &mut self.state;
        match word {
            b"u" => self.unicode(value),
            b"uc" => state.stand_ins = usize::try_from(value).unwrap_or(0).min(16),
            b"b" => state.run.bold = on,
            b"i" => state.run.italic = on,
            b"strike" | b"striked" => state.run.strike = on,
            b"ulnone" => state.run.underline = false,
            b"ul" | b"uld" | b"uldb" | b"uldash" | b"ulw" | b"ulwave" | b"ulth" => state.run.underline = on,
            // Deleted text is gone once changes are accepted.
            b"v" | b"deleted" => state.hidden = on,
            b"plain" => {
                (state.run, state.hidden, state.font) = (RunFormat::default(), false, self.default_font);
            }
            b"f" => state.font = value,
            b"fcharset" => self.font_charset = value,
            b"fmodern" => self.font_is_modern = true,
            b"deff" => (self.default_font, state.font) = (value, value),
            b"ansicpg" => self.encoding = of_code_page(value),
            b"mac" => self.encoding = of_code_page(10000),
            b"yr" => self.date[0] = value,
            b"mo" => self.date[1] = value,
            b"dy" => self.date[2] = value,
            b"hr" => self.date[3] = value,
            b"min" => self.date[4] = value,
            b"pngblip" => self.picture.mime_type = "image/png",
            b"jpegblip" => self.picture.mime_type = "image/jpeg",
            b"emfblip" => self.picture.mime_type = "image/emf",
            b"wmetafile" => self.picture.mime_type = "image/wmf",
            b"dibitmap" | b"wbitmap" => self.picture.mime_type = "image/bmp",
            // Fifteen twentieths of a point are a pixel.
            b"picwgoal" => self.picture.width = u32::try_from(value / 15).ok().filter(|side| *side > 0),
            b"pichgoal" => self.picture.height = u32::try_from(value / 15).ok().filter(|side| *side > 0),
            _ => self.paragraph_word(word, number),
        }
    }

    fn paragraph_word(&mut self, word: &[u8], number: Option<i32>) {
        let value = number.unwrap_or(0);
        let level = u8::try_from(value).ok();
        let paragraph = &mut self.state.paragraph;
        match word {
            b"pard" => *paragraph = ParagraphState::default(),
            b"s" => paragraph.style = number,
            b"outlinelevel" => paragraph.outline = level,
            b"ls" => paragraph.list = number.filter(|list| *list > 0),
            b"ilvl" => paragraph.list_level = level.unwrap_or(0).min(8),
            b"intbl" => paragraph.in_table = number != Some(0),
            b"li" => paragraph.indent = value,
            b"fi" => paragraph.first_indent = value,
            b"pagebb" => paragraph.page_break_before = number != Some(0),
            b"brdrb" => paragraph.rule_below = true,
            _ if self.state.destination != RtfDestination::Body => {}
            b"tab" => self.push("\t"),
            b"line" => self.push("\n"),
            b"emdash" => self.push("—"),
            b"endash" => self.push("–"),
            b"emspace" | b"enspace" | b"qmspace" => self.push(" "),
            b"bullet" => self.push("•"),
            b"lquote" => self.push("‘"),
            b"rquote" => self.push("’"),
            b"ldblquote" => self.push("“"),
            b"rdblquote" => self.push("”"),
            b"nestcell" => self.push("\t"),
            b"nestrow" => self.push("\n"),
            _ => self.structure_word(word, value),
        }
    }

    fn structure_word(&mut self, word: &[u8], value: i32) {
        let paragraph = self.state.paragraph;
        let last = self.texts.len() - 1;
        let (text, styles, budget) = (&mut self.texts[last].text, &self.styles, &mut self.budget);
        let in_body = last == 0;
        match word {
            b"par" => text.end_paragraph(&paragraph, styles, budget),
            b"cell" => text.end_cell(&paragraph, styles, budget),
            b"row" => text.end_row(budget),
            b"trowd" => {
                text.bounds.clear();
                text.next_bound = Default::default();
                text.is_header_row = false;
            }
            b"trhdr" => text.is_header_row = true,
            b"clmrg" => text.next_bound.covered = true,
            b"clvmgf" => text.next_bound.vertical = VerticalMerge::Begins,
            b"clvmrg" => text.next_bound.vertical = VerticalMerge::Continues,
            b"cellx" => {
                let bound = std::mem::take(&mut text.next_bound);
                if text.bounds.len() < TableGrid::COLUMNS {
                    text.bounds.push(CellBound { right: value, ..bound });
                }
            }
            b"page" if in_body && !paragraph.in_table => {
                if text.is_open() {
                    text.end_paragraph(&paragraph, styles, budget);
                }
                text.flow.page_break();
            }
            b"softpage" if in_body => text.flow.rendered_break(),
            b"sect" if in_body => {
                if text.is_open() {
                    text.end_paragraph(&paragraph, styles, budget);
                }
                text.flow.section_end();
                self.sections.push_back(std::mem::take(&mut self.bands));
            }
            b"sbknone" if in_body => self.bands.continues = true,
            _ => {}
        }
    }

    /// Takes a word that says where the text of its group goes; `false` for any other.
    fn destination_word(&mut self, word: &[u8]) -> bool {
        use RtfDestination as To;
        let from = self.state.destination;
        let property = |property: RtfProperty| Some(To::Property(property)).filter(|_| from == To::Info);
        let to = match word {
            b"fonttbl" => Some(To::Fonts),
            b"stylesheet" => Some(To::Styles),
            b"info" => Some(To::Info),
            b"title" => property(RtfProperty::Title),
            b"author" => property(RtfProperty::Author),
            b"subject" => property(RtfProperty::Subject),
            b"keywords" => property(RtfProperty::Keywords),
            b"creatim" => property(RtfProperty::Created),
            b"revtim" => property(RtfProperty::Modified),
            b"fldinst" => Some(To::Instruction),
            b"listtext" | b"pntext" => Some(To::Label),
            b"sn" if from == To::Picture || from == To::Skipped => Some(To::ShapeName),
            b"sv" if from == To::Picture || from == To::Skipped => Some(To::ShapeValue),
            b"picprop" if from == To::Picture => Some(To::Picture),
            b"atnauthor" => Some(To::CommentAuthor),
            b"colortbl"
            | b"listtable"
            | b"listoverridetable"
            | b"rsidtbl"
            | b"generator"
            | b"nonshppict"
            | b"objdata"
            | b"themedata"
            | b"colorschememapping"
            | b"datastore"
            | b"xmlnstbl"
            | b"pn"
            | b"nonesttables"
            | b"nesttableprops"
            | b"atnid"
            | b"atnref"
            | b"atndate"
            | b"atntime"
            | b"bkmkstart"
            | b"bkmkend"
            | b"upr"
            | b"tc"
            | b"xe"
            | b"revtbl"
            | b"ftnsep"
            | b"ftnsepc"
            | b"aftnsep"
            | b"aftnsepc"
            | b"operator"
            | b"company"
            | b"doccomm"
            | b"filetbl"
            | b"latentstyles"
            | b"mmathPr" => Some(To::Skipped),
            // The shape's text is for readers, its properties are not.
            b"shpinst" | b"shppict" | b"shp" | b"shprslt" | b"result" => Some(from),
            b"ud" | b"shptxt" => Some(self.outer_destination()),
            _ => None,
        };
        if let Some(to) = to {
            if from != To::Skipped || matches!(to, To::ShapeName | To::ShapeValue) || matches!(word, b"ud" | b"shptxt")
            {
                self.state.destination = to;
            }
            return true;
        }
        if from == To::Skipped {
            return false;
        }
        match word {
            b"field" => {
                self.fields.push(None);
                self.state.ends_field = true;
            }
            b"fldrslt" => {
                if let Some(url) = self.fields.last().cloned().flatten() {
                    self.current().text.begin_link(url);
                    self.state.ends_link = true;
                }
            }
            b"pict" => {
                self.picture = RtfPicture { mime_type: "application/octet-stream", ..RtfPicture::default() };
                (self.state.destination, self.state.ends_picture) = (To::Picture, true);
            }
            b"footnote" => self.begin_text(TextKind::Footnote),
            b"annotation" => self.begin_text(TextKind::Comment),
            b"header" | b"headerl" | b"headerr" | b"headerf" => self.begin_text(TextKind::Header),
            b"footer" | b"footerl" | b"footerr" | b"footerf" => self.begin_text(TextKind::Footer),
            b"ftnalt" => {
                let last = self.texts.len() - 1;
                if self.texts[last].kind == TextKind::Footnote {
                    self.texts[last].kind = TextKind::Endnote;
                }
            }
            _ => return false,
        }
        true
    }

    /// Where the text around a group that is passed over goes.
    fn outer_destination(&self) -> RtfDestination {
        let outer = self.groups.iter().rev().map(|group| group.destination);
        outer.into_iter().find(|destination| *destination != RtfDestination::Skipped).unwrap_or_default()
    }
}
