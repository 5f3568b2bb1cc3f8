//! Which of the running Computers is meant.

use std::path::PathBuf;
use std::time::Duration;

use a2c_computer::control::wire::ControlRequest;
use a2c_computer::control::{ControlClient, Running, folder, running};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::de::DeserializeOwned;

/// How long a Computer may take to answer what it knows already.
pub(super) const SOON: Duration = Duration::from_secs(30);

#[derive(Args)]
#[command(next_help_heading = "Which Computer")]
pub(crate) struct WhichArgs {
    /// The running Computer of this name; needed where several run.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The one in this office.
    #[arg(long, value_name = "ID")]
    office: Option<String>,

    /// The one with this control socket.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["name", "office"])]
    socket: Option<PathBuf>,
}

impl WhichArgs {
    /// The socket of the Computer that is meant; `None` where none runs that fits.
    pub(super) async fn socket(&self) -> Result<Option<PathBuf>> {
        if let Some(socket) = &self.socket {
            return Ok(Some(socket.clone()));
        }
        let mut fitting: Vec<Running> = running(&folder()).await.into_iter().filter(|one| self.fits(one)).collect();
        if fitting.len() > 1 {
            let list: Vec<_> = fitting.iter().map(name_of).collect();
            bail!("{} Computers run, say which with --name and --office: {}", list.len(), list.join(", "));
        }
        Ok(fitting.pop().map(|one| one.socket))
    }

    /// A connection to the Computer that is meant.
    pub(super) async fn connect(&self) -> Result<ControlClient> {
        match self.socket().await? {
            Some(socket) => Ok(ControlClient::connect(&socket).await?),
            None => bail!("{}", self.none().await),
        }
    }

    /// Asks the Computer that is meant for something that it has at hand.
    pub(super) async fn ask<T: DeserializeOwned>(&self, request: &ControlRequest) -> Result<T> {
        let mut client = self.connect().await?;
        let answer = tokio::time::timeout(SOON, client.ask(request)).await;
        Ok(answer.context("the Computer does not answer: is it stopped, or very busy?")??)
    }

    /// What there is instead.
    async fn none(&self) -> String {
        let names: Vec<_> = running(&folder()).await.iter().map(name_of).collect();
        match names.as_slice() {
            [] => format!(
                "no Computer is running here (looked in {}); start one with: a2c computer --url URL --office ID --name NAME \
                 --config FILE",
                folder().display()
            ),
            names => format!("no such Computer is running; there are: {}", names.join(", ")),
        }
    }

    fn fits(&self, one: &Running) -> bool {
        self.name.as_ref().is_none_or(|name| *name == one.greeting.name)
            && self.office.as_ref().is_none_or(|office| *office == one.greeting.office)
    }
}

fn name_of(one: &Running) -> String {
    format!("{}@{}", one.greeting.name, one.greeting.office)
}
