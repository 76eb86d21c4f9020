import Foundation
import HTTPTypes

/// Reads a log file and the older half of it, backwards from its end or forwards from a position.
///
/// A position is the number of the file and an offset in it, `4711-1024`, and so survives that the
/// file gets its other name.
struct LogFile: Hashable, Sendable {
    /// Bytes that are read at once.
    private static let windowBytes = 256 * 1_024
    /// The maximum number of bytes that a page examines before it shows that there are more.
    private static let scannedBytesMax = 16 * 1_024 * 1_024

    let path: String

    var olderPath: String { self.path + ".1" }

    private struct Position: Hashable {
        var file: UInt64
        var offset: UInt64

        var text: String { "\(self.file)-\(self.offset)" }

        init(file: UInt64, offset: UInt64) {
            self.file = file
            self.offset = offset
        }

        init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, let file = UInt64(parts[0]), let offset = UInt64(parts[1]) else {
                return nil
            }
            self.init(file: file, offset: offset)
        }
    }

    private struct Opened {
        let handle: FileHandle
        let number: UInt64
        let size: UInt64

        func bytes(_ range: Range<UInt64>) -> [UInt8] {
            guard (try? self.handle.seek(toOffset: range.lowerBound)) != nil,
                let data = try? self.handle.read(upToCount: range.count)
            else { return [] }
            return Array(data)
        }
    }

    // MARK: Files

    /// The file at a path; `nil` if there is none.
    private func open(_ path: String) throws -> Opened? {
        // Not one that would wait for a writer.
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno != ENOENT else { return nil }
            throw Self.unreadable(path, String(cString: strerror(errno)))
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let status = OpenedFileStatus(of: descriptor), status.isFile else {
            throw Self.unreadable(path, "it is not a file")
        }
        return Opened(handle: handle, number: status.number, size: status.size)
    }

    private static func unreadable(_ path: String, _ reason: String) -> PageFailure {
        PageFailure(.serviceUnavailable, "No log", "\(path) cannot be read: \(reason). Check who owns it.")
    }

    /// Both files, the newer first.
    private func files() throws -> [Opened] {
        let files = try [self.path, self.olderPath].compactMap { try self.open($0) }
        guard !files.isEmpty else {
            throw PageFailure.missing(
                "There is no log at \(self.path). The next start of the server makes it."
            )
        }
        return files
    }

    // MARK: Backwards

    /// The newest lines before a position, or of all.
    ///
    /// - Throws: `PageFailure`.
    func page(before text: String?, _ filter: LogFilter) throws -> LogPage {
        let files = try self.files()
        var index = 0
        var offset = self.lastLineEnd(of: files[0])
        var page = LogPage(end: Position(file: files[0].number, offset: offset).text)
        if let text {
            guard let position = Position(text),
                let found = files.firstIndex(where: { $0.number == position.file })
            else {
                throw PageFailure.invalid(
                    "These lines are gone, because the log has been turned over. Begin with the newest."
                )
            }
            index = found
            offset = min(position.offset, files[found].size)
        }
        var scanned = 0
        while page.entries.count < LogSource.linesMax, scanned < Self.scannedBytesMax {
            guard offset > 0 else {
                index += 1
                guard index < files.count else { return page }
                offset = files[index].size
                continue
            }
            let before = offset
            offset = self.readBack(files[index], from: offset, filter, &page)
            scanned += Int(before - offset)
        }
        page.older =
            offset > 0 || index + 1 < files.count
            ? Position(file: files[index].number, offset: offset).text : nil
        return page
    }

    /// Adds the lines of one window.
    ///
    /// - Returns: The offset of the first line that was examined.
    private func readBack(
        _ file: Opened,
        from end: UInt64,
        _ filter: LogFilter,
        _ page: inout LogPage
    ) -> UInt64 {
        let start = end > UInt64(Self.windowBytes) ? end - UInt64(Self.windowBytes) : 0
        let bytes = file.bytes(start..<end)
        // The first line is only a part, unless the file begins there.
        var first = 0
        if start > 0 {
            guard let cut = bytes.dropLast().firstIndex(of: UInt8(ascii: "\n")) else { return start }
            first = cut + 1
        }
        var stop = bytes.count
        while stop > first, page.entries.count < LogSource.linesMax {
            let inner = bytes[first..<stop].dropLast(bytes[stop - 1] == UInt8(ascii: "\n") ? 1 : 0)
            let begin = inner.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? first
            let entry = Self.entry(inner[begin...])
            if !inner[begin...].isEmpty, filter.admits(entry) { page.entries.append(entry) }
            stop = begin
        }
        return start + UInt64(stop)
    }

    private static func entry(_ bytes: ArraySlice<UInt8>) -> LogEntry {
        LogEntry(line: String(decoding: bytes, as: UTF8.self))
    }

    /// Behind the last line that is whole: the server may be writing another one.
    private func lastLineEnd(of file: Opened) -> UInt64 {
        let start = file.size > UInt64(LogEntry.lineBytesMax) ? file.size - UInt64(LogEntry.lineBytesMax) : 0
        let bytes = file.bytes(start..<file.size)
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return file.size }
        return start + UInt64(last) + 1
    }

    // MARK: Forwards

    /// Lines after a position.
    ///
    /// - Throws: `PageFailure`.
    func news(after text: String, _ filter: LogFilter) throws -> LogNews {
        guard let position = Position(text) else { throw PageFailure.invalid("The page has no position.") }
        let files = try self.files()
        guard let file = files.first(where: { $0.number == position.file }) else {
            // Rotated twice since: begin with the lines that remain.
            return LogNews(end: Position(file: files[0].number, offset: 0).text)
        }
        let start = min(position.offset, file.size)
        let bytes = file.bytes(start..<min(file.size, start + UInt64(Self.windowBytes)))
        var news = LogNews(end: Position(file: file.number, offset: start).text)
        var begin = 0
        while news.entries.count < LogSource.linesMax,
            let stop = bytes[begin...].firstIndex(of: UInt8(ascii: "\n"))
        {
            let entry = Self.entry(bytes[begin..<stop])
            if stop > begin, filter.admits(entry) { news.entries.append(entry) }
            begin = stop + 1
        }
        // A line longer than the window is passed over.
        if begin == 0, bytes.count == Self.windowBytes { begin = bytes.count }
        news.end = Position(file: file.number, offset: start + UInt64(begin)).text
        if begin == 0, file.number != files[0].number {
            news.end = Position(file: files[0].number, offset: 0).text
        }
        return news
    }
}
