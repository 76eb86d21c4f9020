import NIOCore
import RecordModel
import RecordStore
import StorageContract
import WireProtocol

/// The steps of a request from its bytes to the engine.
///
/// Each step may end it. Only this list defines the order:
///
/// 1. Load: a change that the engine would reject for lack of room is not decoded, since decoding
///    costs more than the rejection.
/// 2. Bytes: the request is decoded within the limits of the connection.
/// 3. Admission: counts, scope, and permissions of the credential.
/// 4. Gate: in tests, injected faults (`RequestGate`).
/// 5. Turn: the request waits until held responses of the connection have left.
/// 6. Deadline: the client no longer waits.
/// 7. Room: the holder's clients leave too much unread.
/// 8. Share tokens: a client guesses URLs of shares.
/// 9. Engine.
///
/// `admit` is steps 1 to 3 and `begin` is 6 to 8. The connection performs the steps between. Requests
/// of another protocol come in at step 3 (`DoorConnection`).
struct RequestPipeline {
    let server: ServerContext
    let account: Account

    /// Why a request, or its connection, ends before the gate.
    enum Refusal: Error {
        case end(Failure)
        case close(CloseReason, field: String)
    }

    struct Admitted {
        let kind: OperationKind
        let request: AdmittedRequest
        /// Milliseconds since 1970.
        let deadlineMilliseconds: Int64
    }

    /// The holder's clients leave too much unread.
    ///
    /// The time until they read it is unknown, so the retry interval is no reservation.
    private static let tooMuchHeld = StoreError.overloaded(
        retryAfterMilliseconds: 2 * UInt32(Bounds.reservationMillisecondsMax)
    )

    /// The steps before the gate.
    ///
    /// - Parameters:
    ///   - payload: Of the request's frame.
    ///   - user: The user of the connection.
    ///   - bounds: The limits of the connection's requests.
    ///   - origin: The connection.
    ///   - decoded: Called with the kind and the ID of a decoded request.
    /// - Returns: The request to pass to the gate.
    /// - Throws: The failure that ends the request or the connection; nothing was executed.
    func admit(
        _ payload: ByteBuffer,
        of user: ConnectionUser,
        bounds: Bounds,
        origin: ChangeOrigin,
        decoded: (OperationKind, RequestID?) -> Void
    ) throws(Refusal) -> Admitted {
        var user = user
        if self.server.store.load.mayReject {
            user.mark = RequestMark(payload, installation: user.installation)
            if let refusal = self.refusal(of: payload, by: user) { throw .end(Failure(refusal)) }
        }
        let request = try Self.decode(payload, bounds: bounds)
        decoded(OperationKind(request.operation), request.requestID)
        do throws(Failure) {
            return try self.admit(
                request,
                bytes: payload.readableBytes,
                of: user,
                bounds: bounds,
                origin: origin
            )
        } catch {
            throw .end(error)
        }
    }

    /// Step 3, for a request in any encoding.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bytes: The encoded size.
    ///   - user: The user, with the mark of the request.
    ///   - bounds: The limits of the request.
    ///   - origin: The connection.
    /// - Returns: The request to pass to the engine.
    /// - Throws: The failure that ends the request; nothing was executed.
    func admit(
        _ request: Request,
        bytes: Int,
        of user: ConnectionUser,
        bounds: Bounds,
        origin: ChangeOrigin
    ) throws(Failure) -> Admitted {
        var user = user
        user.deadlineMilliseconds = self.deadline(of: request)
        let admission = RequestAdmission(
            user: user,
            bounds: bounds,
            requestBytes: bytes,
            deadlineMilliseconds: user.deadlineMilliseconds,
            nowMilliseconds: self.server.clock(),
            sealKey: self.server.sealKey,
            origin: origin
        )
        return Admitted(
            kind: OperationKind(request.operation),
            request: try admission.admit(request),
            deadlineMilliseconds: user.deadlineMilliseconds
        )
    }

    /// The steps between the turn and the engine.
    ///
    /// - Returns: Share tokens with misses that are to be counted.
    /// - Throws: The failure that ends the request; nothing was executed.
    func begin(_ request: AdmittedRequest, deadlineMilliseconds: Int64) throws(Failure) -> ShareTokens? {
        guard self.server.clock() < deadlineMilliseconds else { throw Failure(StoreError.deadlinePassed) }
        guard self.account.responses.hasRoom(for: self.server.responseReservedBytes) else {
            throw Failure(Self.tooMuchHeld)
        }
        guard let tokens = request.shareTokens else { return nil }
        if let failure = self.server.refusal(of: tokens) { throw failure }
        return tokens
    }

    private func refusal(of payload: ByteBuffer, by user: ConnectionUser) -> StoreError? {
        let shape = RequestShape(payload)
        guard shape.isChange else { return nil }
        let requester = Requester(
            database: user.signIn.publicDatabase,
            scope: .public,
            environment: user.signIn.environment,
            userRecordName: user.signIn.userRecordName,
            mark: user.mark.value
        )
        return self.server.store.load.rejection(
            ofChangeBy: requester,
            records: shape.itemCount,
            bytes: payload.readableBytes
        )
    }

    private static func decode(_ payload: ByteBuffer, bounds: Bounds) throws(Refusal) -> Request {
        do throws(WireError) {
            return try Request(decoding: payload, bounds: bounds)
        } catch {
            guard let code = error.refusal else { throw .close(error.closeReason, field: error.field) }
            throw .end(Failure(refused: code, error, payload: payload, bounds: bounds))
        }
    }

    /// Milliseconds since 1970: the client's deadline, limited to the maximum.
    private func deadline(of request: Request) -> Int64 {
        let longest = self.server.deadlineMillisecondsMax
        let wanted = request.deadlineMilliseconds == 0 ? longest : Int64(request.deadlineMilliseconds)
        return self.server.clock() + min(wanted, longest)
    }
}
