import RecordServer

extension FaultPlan {
    /// The requests that a fault hits: of one kind, by any user or by one user.
    ///
    /// One call of an operation or a convenience method is one request. A request that a client
    /// sends again after its connection broke counts again.
    public struct Occasion: Hashable, Sendable {
        /// Which of the requests, in the order in which the server reads them.
        public struct Which: Hashable, Sendable {
            /// The first request from now.
            public static let next = Which(1)
            /// The same as `next`.
            public static let first = Which(1)
            /// The second request from now.
            public static let second = Which(2)
            /// The third request from now.
            public static let third = Which(3)
            /// All requests.
            public static let every = Which(nil)

            /// The request with a number.
            ///
            /// - Parameter number: The number, from 1.
            /// - Returns: That request alone.
            public static func number(_ number: Int) -> Which { Which(number) }

            private let ordinal: Int?

            private init(_ ordinal: Int?) { self.ordinal = ordinal }

            func isDue(_ seen: Int) -> Bool { self.ordinal.map { $0 == seen } ?? true }
        }

        private enum Kind: Hashable {
            case save
            case fetch
            case saveZone
            case fetchZone
            case query
            case checkSchema
            case fetchChanges
            case fetchDatabaseChanges
            case fetchToken
            case saveSubscription
            case fetchSubscription
            case listen
            case uploadAssets
            case downloadAssets
            case acceptShare
            case fetchShareMetadata
            case fetchShareParticipant
            case requestShareAccess
            case explainRecord
        }

        private let kind: Kind
        private let user: String?
        let which: Which

        /// Requests that save or delete records.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func save(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .save, user: user, which: which)
        }

        /// Requests that fetch records by ID.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func fetch(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .fetch, user: user, which: which)
        }

        /// Requests that save or delete zones.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func saveZone(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .saveZone, user: user, which: which)
        }

        /// Requests that fetch zones.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func fetchZone(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .fetchZone, user: user, which: which)
        }

        /// Requests for a page of a query.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func query(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .query, user: user, which: which)
        }

        /// Requests for a page of a zone's changes.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func fetchChanges(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .fetchChanges, user: user, which: which)
        }

        /// Requests for a page of a database's changes.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func fetchDatabaseChanges(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .fetchDatabaseChanges, user: user, which: which)
        }

        /// Requests that save or delete subscriptions.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func saveSubscription(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .saveSubscription, user: user, which: which)
        }

        /// Requests that fetch subscriptions.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func fetchSubscription(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .fetchSubscription, user: user, which: which)
        }

        /// Requests that accept shares.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func acceptShare(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .acceptShare, user: user, which: which)
        }

        /// Requests that look up the URLs of shares.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func fetchShareMetadata(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .fetchShareMetadata, user: user, which: which)
        }

        /// Requests that look up people to invite.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func fetchShareParticipant(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .fetchShareParticipant, user: user, which: which)
        }

        /// Requests for access to shares.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func requestShareAccess(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .requestShareAccess, user: user, which: which)
        }

        /// Explanations of a record.
        ///
        /// - Parameters:
        ///   - which: Which of them, from now on.
        ///   - user: The name of their user; any user's if `nil`.
        /// - Returns: The requests.
        public static func explainRecord(_ which: Which, by user: String? = nil) -> Occasion {
            Occasion(kind: .explainRecord, user: user, which: which)
        }

        private init(kind: Kind, user: String?, which: Which) {
            self.kind = kind
            self.user = user
            self.which = which
        }

        func matches(_ occasion: FaultOccasion) -> Bool {
            let kind: Kind =
                switch occasion.operation {
                case .modifyRecords: .save
                case .fetchRecords: .fetch
                case .modifyZones: .saveZone
                case .fetchZones: .fetchZone
                case .queryRecords: .query
                case .checkSchema: .checkSchema
                case .fetchChanges: .fetchChanges
                case .fetchDatabaseChanges: .fetchDatabaseChanges
                case .fetchToken: .fetchToken
                case .modifySubscriptions: .saveSubscription
                case .fetchSubscriptions: .fetchSubscription
                case .listen: .listen
                case .uploadAssets: .uploadAssets
                case .downloadAssets: .downloadAssets
                case .acceptShares: .acceptShare
                case .fetchShareMetadata: .fetchShareMetadata
                case .fetchShareParticipants: .fetchShareParticipant
                case .requestShareAccess: .requestShareAccess
                case .explainRecord: .explainRecord
                }
            guard kind == self.kind else { return false }
            guard let user = self.user else { return true }
            return TestAccounts.isUserRecordName(occasion.userRecordName, of: user)
        }
    }
}
