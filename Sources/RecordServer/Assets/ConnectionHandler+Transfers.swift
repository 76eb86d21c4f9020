import AssetStore
import FileIO
import NIOCore
import RecordModel
import RecordStore
import Transport
import WireProtocol

// What uploads and downloads have in common: how they end, and what they tell.
extension ConnectionHandler {
    func transfersMade() -> Transfers {
        if let transfers { return transfers }
        let made = Transfers()
        self.transfers = made
        return made
    }

    /// Ends an upload or a download; does nothing when the stream is neither.
    func endTransfer(_ stream: UInt32, failure: Failure?) {
        guard let transfers else { return }
        if let upload = transfers.uploads.removeValue(of: stream) {
            self.release(upload)
        } else if let download = transfers.downloads.removeValue(of: stream) {
            download.timer?.cancel()
            if transfers.downloads.isEmpty { self.server.downloads(false) }
        } else {
            return
        }
        guard !self.breaksConnection(insteadOf: stream) else { return self.closeQuietly() }
        self.end(stream, with: failure.map { End(failure: $0) } ?? End())
        self.executeWaiting()
    }

    /// Ends all of them: what is durable stays for the next connection.
    func endTransfers(failure: Failure) {
        guard let transfers else { return }
        let streams = transfers.uploads.values.map(\.stream) + transfers.downloads.values.map(\.stream)
        for stream in streams { self.endTransfer(stream, failure: failure) }
    }

    /// The connection is gone: files are closed, turns given back.
    func forgetTransfers() {
        guard let transfers else { return }
        self.transfers = nil
        for upload in transfers.uploads.values { self.release(upload) }
        for download in transfers.downloads.values { download.timer?.cancel() }
        if !transfers.downloads.isEmpty { self.server.downloads(false) }
    }

    /// Closes the files of an upload, and only then lets others have them.
    private func release(_ upload: Upload) {
        upload.timer?.cancel()
        let registry = self.server.store.assets
        let turns = self.server.uploadTurns
        let files = upload.files
        let end = upload.machine.ended()
        for number in end.touches { registry.touch(number) }
        guard end.ticket != nil || !end.numbers.isEmpty else { return }
        upload.lane.submit {
            Self.write(end.batch, files)
            for file in files { file?.close() }
            if let ticket = end.ticket { turns.end(ticket) }
            registry.release(end.numbers)
        }
    }

    /// Writes what came and no thread had yet, so that it need not be sent again.
    ///
    /// A file that takes no more, or has failed, takes none of it.
    private static func write(_ batch: UploadBatch, _ files: [UploadFile?]) {
        for step in batch.steps {
            guard case .write(let item, let pieces) = step, (try? files[item]?.append(pieces)) != nil else {
                return
            }
        }
    }

    func writeProgress(_ doneBytes: Int64, of totalBytes: Int64, on stream: UInt32) {
        let progress = Progress(doneBytes: doneBytes, totalBytes: totalBytes)
        self.write(Frame(kind: .progress, stream: stream, payload: progress.encoded()))
    }

    /// Until the deadline, from the server's clock; at least a moment, since clocks of tests stand still.
    func timeLeft(of answer: Answer) -> TimeAmount {
        .milliseconds(max(answer.deadlineMilliseconds - self.server.clock(), 10))
    }
}
