import WireProtocol

extension RecordClient {
    /// Uploads assets.
    ///
    /// - Durability: When it succeeds, all assets are on the server's disk, and a record may name
    ///   them.
    /// - Parameters:
    ///   - upload: Which, and where their bytes come from.
    ///   - requestTimeout: Longest silence; starts again whenever something moves.
    ///   - resourceTimeout: Longest time over all, attempts to connect and to send again included.
    /// - Throws: `fileFailed` with the error of `read`; `refused` with the failure that the server
    ///   sent. If the task is cancelled, the upload is too; its durable bytes stay with the server
    ///   for a later one.
    package func upload(
        _ upload: AssetUpload,
        requestTimeout: Duration,
        resourceTimeout: Duration
    ) async throws(ClientError) {
        try await self.transfer(.upload(upload), Timeouts(request: requestTimeout, resource: resourceTimeout))
    }

    /// Downloads bytes of assets.
    ///
    /// Succeeds when `write` has taken all bytes. The caller compares their hash.
    ///
    /// - Parameters:
    ///   - download: Which, and where they go.
    ///   - requestTimeout: Longest silence; starts again whenever something moves.
    ///   - resourceTimeout: Longest time over all, attempts to connect and to send again included.
    /// - Throws: `fileFailed` with the error of `write`; `refused` with the failure that the
    ///   server sent. If the task is cancelled, the download is too; a call of `write` may still
    ///   be running.
    package func download(
        _ download: AssetDownload,
        requestTimeout: Duration,
        resourceTimeout: Duration
    ) async throws(ClientError) {
        try await self.transfer(
            .download(download),
            Timeouts(request: requestTimeout, resource: resourceTimeout)
        )
    }

    /// Starts an upload without waiting for it.
    ///
    /// `end` is called once, on the connection's event loop: without an error if all bytes are on the
    /// server's disk.
    package func start(
        _ upload: AssetUpload,
        requestTimeout: Duration,
        resourceTimeout: Duration,
        end: @escaping @Sendable (ClientError?) -> Void
    ) {
        self.start(.upload(upload), requestTimeout: requestTimeout, resourceTimeout: resourceTimeout) {
            if case .failure(let error) = $0 { end(error) } else { end(nil) }
        }
    }

    /// Starts a download without waiting for it.
    ///
    /// `end` is called once, on the connection's event loop: without an error if `write` has taken all
    /// bytes.
    package func start(
        _ download: AssetDownload,
        requestTimeout: Duration,
        resourceTimeout: Duration,
        end: @escaping @Sendable (ClientError?) -> Void
    ) {
        self.start(.download(download), requestTimeout: requestTimeout, resourceTimeout: resourceTimeout) {
            if case .failure(let error) = $0 { end(error) } else { end(nil) }
        }
    }

    private func transfer(
        _ bytes: Mailbox.Transfer.Bytes,
        _ timeouts: Timeouts
    ) async throws(ClientError) {
        let number = self.mailbox.nextNumber()
        let result: Result<End, ClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let transfer = Mailbox.Transfer(bytes: bytes) { continuation.resume(returning: $0) }
                self.mailbox.post(.startTransfer(number: number, transfer, timeouts: timeouts))
                self.cancelIfTaskIsCancelled(number)
            }
        } onCancel: {
            self.mailbox.post(.cancel(number: number))
        }
        _ = try result.get()
    }

    /// Starts a transfer without waiting for it.
    @discardableResult
    func start(
        _ bytes: Mailbox.Transfer.Bytes,
        requestTimeout: Duration,
        resourceTimeout: Duration,
        end: @escaping @Sendable (Result<End, ClientError>) -> Void
    ) -> RequestHandle {
        let number = self.mailbox.nextNumber()
        self.mailbox.post(
            .startTransfer(
                number: number,
                Mailbox.Transfer(bytes: bytes, end: end),
                timeouts: Timeouts(request: requestTimeout, resource: resourceTimeout)
            )
        )
        return RequestHandle(number: number, mailbox: self.mailbox)
    }
}
