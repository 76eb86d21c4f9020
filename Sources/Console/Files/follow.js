// What comes while a page is open: lines of a log, and the progress of a backup.
// Text is only ever set as text.

const log = document.querySelector("[data-log-events]");
if (log) followLog(log);
const backup = document.querySelector("[data-backup-events]");
if (backup) followBackup(backup);

/** @param {HTMLElement} place */
function followLog(place) {
    const state = place.querySelector("[data-live-state]");
    const button = place.querySelector("[data-pause]");
    const body = document.querySelector("#lines tbody");
    const rowsMax = 500;
    /** @type {EventSource | null} */
    let events = null;
    let last = place.dataset.logEvents;
    let count = 0;
    begin();
    button.addEventListener("click", () => {
        if (events) {
            events.close();
            events = null;
            button.textContent = "Follow";
            state.textContent = "Paused.";
        } else {
            begin();
        }
    });

    function begin() {
        button.textContent = "Pause";
        state.textContent = "Following.";
        events = new EventSource(last);
        events.addEventListener("message", (event) => {
            const page = JSON.parse(event.data);
            const url = new URL(last, location.href);
            url.searchParams.set("from", event.lastEventId);
            last = url.pathname + url.search;
            for (const entry of page.entries) body.prepend(row(entry));
            count += page.entries.length;
            // Old rows give room: the next page has them.
            while (body.rows.length > rowsMax) body.rows[body.rows.length - 1].remove();
            state.textContent = `Following. ${count} ${count === 1 ? "line" : "lines"} since the page was loaded.`;
        });
        events.addEventListener("error", () => {
            if (!events) return;
            state.textContent = events.readyState === EventSource.CLOSED
                ? "The console has ended, or its session. Load the page again."
                : "The connection was lost, and is made again.";
        });
    }

    /** @param {{time: string, level: string, message: string, pairs: [string, string, string?][]}} entry */
    function row(entry) {
        const line = document.createElement("tr");
        line.className = `new level-${entry.level}`;
        const head = document.createElement("th");
        head.scope = "row";
        const time = document.createElement("time");
        time.textContent = entry.time;
        head.append(time);
        line.append(head);
        for (const [label, text] of [["Level", entry.level], ["Event", entry.message]]) {
            const cell = document.createElement("td");
            cell.dataset.label = label;
            const part = document.createElement(label === "Level" ? "span" : "bdi");
            if (label === "Level") part.className = "level";
            part.textContent = text;
            cell.append(part);
            line.append(cell);
        }
        const cell = document.createElement("td");
        cell.dataset.label = "Details";
        const list = document.createElement("ul");
        list.className = "pairs";
        for (const [key, value, url] of entry.pairs) {
            const item = document.createElement("li");
            const name = document.createElement("b");
            name.textContent = key;
            const text = document.createElement("bdi");
            text.textContent = value;
            if (url) {
                const link = document.createElement("a");
                link.href = url;
                link.append(text);
                item.append(name, " ", link);
            } else {
                item.append(name, " ", text);
            }
            list.append(item);
        }
        if (entry.pairs.length > 0) cell.append(list);
        line.append(cell);
        return line;
    }
}

/** @param {HTMLElement} place */
function followBackup(place) {
    const bar = place.querySelector("progress");
    const text = place.querySelector("[data-live-state]");
    const events = new EventSource(place.dataset.backupEvents);
    events.addEventListener("message", (event) => {
        const state = JSON.parse(event.data);
        if (state.ended) {
            events.close();
            location.reload();
            return;
        }
        if (state.total > 0) {
            bar.max = state.total;
            bar.value = state.done;
        }
        text.textContent = state.text;
    });
}
