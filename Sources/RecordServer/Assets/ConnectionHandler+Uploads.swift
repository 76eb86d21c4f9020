import AssetStore
import Logging
import NIOCore
import RecordModel
import RecordStore
import Transport
import WireProtocol

// An upload until the client may send: rows, its turn, what is there already.
extension ConnectionHandler {
    /// An upload shows with its first bytes that it comes along, and then gets its share.
    private static let firstWindowBytesMax: UInt32 = 512 * 1_024

    func start(_ request: AdmittedUpload, for answer: Answer) {
        guard !self.machine.isDraining else {
            return self.end(answer.stream, failure: Failure(StoreError.shuttingDown))
        }
        let upload = Upload(
            stream: answer.stream,
            request: request,
            lane: self.server.files.lane(),
            now: self.eventLoop.now
        )
        self.transfersMade().uploads[upload.stream] = upload
        self.watch(upload, in: self.timeLeft(of: answer))
        self.begin(upload)
    }

    private func begin(_ upload: Upload) {
        let back = LoopReturn(self)
        let stream = upload.stream
        let registry = self.server.store.assets
        upload.stage = .beginning
        let request = upload.request
        registry.begin(request.assets, in: request.zone, for: request.requester) { result in
            back { $0.uploadBegun(stream, result, by: registry) }
        }
    }

    private func uploadBegun(
        _ stream: UInt32,
        _ result: Result<[AssetPlace], StoreError>,
        by registry: any AssetRegistry
    ) {
        guard let upload = self.transfers?.uploads[stream] else {
            // It has ended meanwhile: nobody writes to what was opened for it.
            if case .success(let places) = result { registry.release(places.compactMap(\.number)) }
            return
        }
        switch result {
        case .failure(let error):
            self.endTransfer(stream, failure: Failure(asset: error))
        case .success(let places):
            let before = upload.numbers
            upload.places = places
            // Those of before were opened once more, or are no business of this upload any longer.
            registry.release(before)
            if upload.ticket != nil, Set(upload.numbers).isSubset(of: before) {
                self.recover(upload)
            } else if upload.numbers.isEmpty {
                self.recovered(stream, .success(upload.request.assets.map(\.size)))
            } else {
                self.askForTurn(upload)
            }
        }
    }

    private func askForTurn(_ upload: Upload) {
        if let ticket = upload.ticket { self.server.uploadTurns.end(ticket) }
        let back = LoopReturn(self)
        let stream = upload.stream
        upload.stage = .waiting
        let (ticket, isNow) = self.server.uploadTurns.ask(upload.numbers) { message in
            back { $0.told(message, stream) }
        }
        upload.ticket = ticket
        if isNow { return self.recover(upload) }
        // The deadline is met: from now on the client hears every now and then that its upload lives.
        self.tellThatItLives(upload)
    }

    private func told(_ message: UploadTurns.Message, _ stream: UInt32) {
        guard let upload = self.transfers?.uploads[stream] else { return }
        switch message {
        case .begin:
            // Who had the turn before may have completed or removed what the rows spoke of.
            self.begin(upload)
        case .contested:
            upload.isContested = true
            guard case .receiving = upload.stage else { return }
            self.watch(upload, in: .zero)
        }
    }

    private func recover(_ upload: Upload) {
        upload.stage = .recovering
        // Most files are new: nobody has to wait for what is there of them.
        self.watch(upload, in: TimeAmount(self.server.configuration.assets.lifeInterval))
        upload.files = zip(upload.places, upload.request.assets).map { place, asset in
            guard case .incomplete(let number) = place else { return nil }
            return self.server.files.upload(number, of: asset)
        }
        let back = LoopReturn(self)
        let stream = upload.stream
        let search = OffsetSearch(
            files: upload.files,
            sizes: upload.request.assets.map(\.size),
            lane: upload.lane,
            found: upload.found
        ) { result in
            back { $0.recovered(stream, result) }
        }
        search.run(from: [])
    }

    /// The client hears what is there, and may send the rest.
    private func recovered(_ stream: UInt32, _ result: Result<[Int64], OffsetSearch.Failed>) {
        guard let upload = self.transfers?.uploads[stream] else { return }
        switch result {
        case .failure(let failed):
            self.fileFailed(upload, failed.error, item: failed.item)
        case .success(let offsets):
            self.receive(upload, from: offsets)
        }
    }

    private func receive(_ upload: Upload, from offsets: [Int64]) {
        let assets = upload.request.assets
        let progress = UploadProgress(assets: assets, offsets: offsets)
        upload.progress = progress
        upload.stage = .receiving
        upload.timer?.cancel()
        upload.heardAt = self.eventLoop.now
        upload.durableAt = upload.heardAt
        self.write(
            Frame(
                kind: .assetOffsets,
                stream: upload.stream,
                payload: AssetOffsets(offsets: offsets).encoded()
            )
        )
        for (item, place) in upload.places.enumerated() {
            switch place {
            case .complete:
                if upload.progress?.completed(item: item) == true { return self.uploadDone(upload) }
            case .incomplete:
                if offsets[item] == assets[item].size { upload.steps.append(.finish(item: item)) }
            }
        }
        if progress.wantsBytes {
            let window = min(self.server.uploadWindowBytes(isAlone: false), Self.firstWindowBytesMax)
            self.machine.uploadGranted(upload.stream, bytes: window)
            self.write(
                Frame(kind: .credit, stream: upload.stream, payload: Credit(bytes: window).encoded())
            )
            self.watch(upload, in: upload.isContested ? .zero : self.silenceMax(of: upload))
        }
        self.writeSteps(of: upload)
    }

    /// All assets are on disk, and may be named.
    func uploadDone(_ upload: Upload) {
        let total = upload.progress?.totalBytes ?? 0
        self.writeProgress(total, of: total, on: upload.stream)
        self.endTransfer(upload.stream, failure: nil)
    }

    func fileFailed(_ upload: Upload, _ error: AssetStoreError, item: Int) {
        self.server.logger.error(
            "a file of an asset cannot be written",
            metadata: [LogKeys.error: "\(error)"]
        )
        let failure = Failure(error, item: item)
        guard error == .diskFull, case .receiving = upload.stage, let file = upload.files[item] else {
            return self.endTransfer(upload.stream, failure: failure)
        }
        self.giveUp(upload, file, failure)
    }

    /// Removes what there is of an asset that the disk has no room for, as others need it; only then the client is told, so that its next
    /// upload does not meet this one.
    private func giveUp(_ upload: Upload, _ file: UploadFile, _ failure: Failure) {
        // Nothing that still comes is written, nor what has come.
        upload.isWriting = true
        upload.steps = []
        let registry = self.server.store.assets
        let back = LoopReturn(self)
        let stream = upload.stream
        upload.lane.submit {
            file.discard()
            registry.abandon(file.number)
            back { $0.endTransfer(stream, failure: failure) }
        }
    }

    // MARK: - Time

    /// How long the client may be silent though it may send.
    private func silenceMax(of upload: Upload) -> TimeAmount {
        let assets = self.server.configuration.assets
        return TimeAmount(upload.isContested ? min(assets.contestedTimeout, assets.timeout) : assets.timeout)
    }

    /// Tells how much of an upload was found so far; once more after a while, unless the client may send by then.
    private func tellThatItLives(_ upload: Upload) {
        upload.isAnswered = true
        let total = upload.request.assets.reduce(0) { $0 + $1.size }
        self.writeProgress(upload.found.bytes, of: total, on: upload.stream)
        self.watch(upload, in: TimeAmount(self.server.configuration.assets.lifeInterval))
    }

    /// Looks after a while whether the upload has waited too long.
    private func watch(_ upload: Upload, in delay: TimeAmount) {
        upload.timer?.cancel()
        let stream = upload.stream
        upload.timer = self.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.look(stream)
            self.flush()
        }
    }

    private func look(_ stream: UInt32) {
        guard let upload = self.transfers?.uploads[stream], let answer = self.answers[stream] else { return }
        switch upload.stage {
        case .beginning where !upload.isAnswered:
            guard self.server.clock() >= answer.deadlineMilliseconds else {
                return self.watch(upload, in: self.timeLeft(of: answer))
            }
            return self.endTransfer(stream, failure: Failure(StoreError.deadlinePassed))
        case .beginning, .waiting, .recovering:
            return self.tellThatItLives(upload)
        case .receiving: break
        }
        guard upload.progress?.wantsBytes == true else { return }
        let silenceMax = self.silenceMax(of: upload)
        guard self.machine.mayReceiveAssetData(on: stream) else { return self.watch(upload, in: silenceMax) }
        let silence = self.eventLoop.now - upload.heardAt
        guard silence >= silenceMax else { return self.watch(upload, in: silenceMax - silence) }
        self.endTransfer(stream, failure: upload.isContested ? .uploadTakenOver : .transferTimeout)
    }
}
