import RecordModel

private import RecordClient
private import WireProtocol

extension CKContainer {
    /// The longest wait for an account status: the minute of a request is too long for a user to
    /// wait.
    private static let defaultTimeout = Duration.seconds(10)

    /// Returns the status, and the error if it is `couldNotDetermine`.
    nonisolated(nonsending) func determinedAccountStatus() async -> (status: CKAccountStatus, error: CKError?)
    {
        let session: ServerAccess.Session
        do { session = try self.access.session() } catch { return (.couldNotDetermine, error) }
        guard session.isSignedIn else { return (.noAccount, nil) }
        do throws(ClientError) {
            let welcome = try await session.client.welcome(timeout: self.accountTimeout)
            session.note(welcome)
            guard !welcome.isRestricted else { return (.restricted, nil) }
            return (welcome.userRecordName.isEmpty ? .noAccount : .available, nil)
        } catch {
            session.note(error)
            switch error {
            case .rejected(.notAuthenticated, _), .rejected(.credentialExpired, _): return (.noAccount, nil)
            case .rejected(.overloaded, _), .rejected(.drain, _):
                if session.signIn.await() { session.askUntilAnswered() }
                return (.temporarilyUnavailable, nil)
            default: return (.couldNotDetermine, CKError(error))
            }
        }
    }

    nonisolated(nonsending) func signedInUserRecordID() async throws(CKError) -> CKRecord.ID {
        let session = try self.access.session()
        guard session.isSignedIn else { throw CKError.nobodySignedIn }
        do throws(ClientError) {
            let name = try await session.user.fetched(from: session.client, timeout: self.accountTimeout)
            session.note(userNamed: name)
            if !name.isEmpty { return CKRecord.ID(recordName: name) }
        } catch {
            session.note(error)
            throw CKError(error)
        }
        throw CKError.nobodySignedIn
    }

    private var accountTimeout: Duration {
        self.settings.timeoutIntervalForRequest == nil ? Self.defaultTimeout : self.settings.timeouts.request
    }
}

extension ServerAccess.Session {
    /// The longest pause between two attempts at a server that takes no connections.
    private static let pauseMax = Duration.seconds(60)

    /// Asks the server about the token until it responds and executes requests, for which
    /// `CKAccountChanged` is posted; stops if another request asks first.
    func askUntilAnswered() {
        Task {
            var pause = Duration.seconds(1)
            while self.signIn.isAwaited {
                try await Task.sleep(for: pause)
                pause = min(pause * 2, Self.pauseMax)
                do throws(ClientError) {
                    let welcome = try await self.client.welcome(timeout: Self.pauseMax)
                    self.note(welcome)
                } catch .closed {
                    return
                } catch {
                    self.note(error)
                }
            }
        }
    }
}
