"""What programs that bring loops compute: the computations of PolyBench, and others. `translate.py` says what they
are written in.
"""
# ruff: noqa: F821
from __future__ import annotations

from math import erf, exp, log, sqrt


def gemm(alpha, beta, C: [NI, NJ], A: [NI, NK], B: [NK, NJ]):
    for i in parallel(NI):
        for j in range(NJ):
            C[i, j] *= beta
        for k in range(NK):
            for j in range(NJ):
                C[i, j] += alpha * A[i, k] * B[k, j]


def products_in_registers(C: [NI, NJ], A: [NI, NK], B: [NK, NJ]):
    for i in parallel(NI):
        for j in range(NJ):
            s = 0.0
            for k in range(NK):
                s += A[i, k] * B[k, j]
            C[i, j] = s


def two_products(alpha, beta, T: [NI, NJ], A: [NI, NK], B: [NK, NJ], C: [NJ, NL], D: [NI, NL]):
    for i in range(NI):
        for j in range(NJ):
            T[i, j] = 0.0
            for k in range(NK):
                T[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(NI):
        for j in range(NL):
            D[i, j] *= beta
            for k in range(NJ):
                D[i, j] += T[i, k] * C[k, j]


def atax(A: [M, N], x: [N], y: [N], t: [M]):
    for i in range(N):
        y[i] = 0.0
    for i in range(M):
        t[i] = 0.0
        for j in range(N):
            t[i] = t[i] + A[i, j] * x[j]
        for j in range(N):
            y[j] = y[j] + A[i, j] * t[i]


def bicg(A: [N, M], s: [M], q: [N], p: [M], r: [N]):
    for i in range(M):
        s[i] = 0.0
    for i in range(N):
        q[i] = 0.0
        for j in range(M):
            s[j] = s[j] + r[i] * A[i, j]
            q[i] = q[i] + A[i, j] * p[j]


def mvt(x1: [N], x2: [N], y1: [N], y2: [N], A: [N, N]):
    for i in range(N):
        for j in range(N):
            x1[i] = x1[i] + A[i, j] * y1[j]
    for i in range(N):
        for j in range(N):
            x2[i] = x2[i] + A[j, i] * y2[j]


def gesummv(alpha, beta, A: [N, N], B: [N, N], t: [N], x: [N], y: [N]):
    for i in range(N):
        t[i] = 0.0
        y[i] = 0.0
        for j in range(N):
            t[i] = A[i, j] * x[j] + t[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * t[i] + beta * y[i]


def gemver(alpha, beta, A: [N, N], u1: [N], w1: [N], u2: [N], w2: [N], w: [N], x: [N], y: [N], z: [N]):
    for i in range(N):
        for j in range(N):
            A[i, j] = A[i, j] + u1[i] * w1[j] + u2[i] * w2[j]
    for i in range(N):
        for j in range(N):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in range(N):
        x[i] = x[i] + z[i]
    for i in range(N):
        for j in range(N):
            w[i] = w[i] + alpha * A[i, j] * x[j]


def syrk(alpha, beta, C: [N, N], A: [N, M]):
    for i in parallel(N):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(M):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


def syr2k(alpha, beta, C: [N, N], A: [N, M], B: [N, M]):
    for i in range(N):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(M):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


def symm(alpha, beta, C: [M, N], A: [M, M], B: [M, N]):
    for i in range(M):
        for j in range(N):
            t = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                t += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * t


def trmm(alpha, A: [M, M], B: [M, N]):
    for i in range(M):
        for j in range(N):
            for k in range(i + 1, M):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


def doitgen(A: [R, Q, P], C4: [P, P], s: [P]):
    for r in range(R):
        for q in range(Q):
            for p in range(P):
                s[p] = 0.0
                for k in range(P):
                    s[p] += A[r, q, k] * C4[k, p]
            for p in range(P):
                A[r, q, p] = s[p]


def trisolv(L: [N, N], x: [N], b: [N]):
    for i in range(N):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]


def cholesky(A: [N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = sqrt(A[i, i])


def lu(A: [N, N]):
    for i in range(N):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, N):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def ludcmp(A: [N, N], b: [N], x: [N], y: [N]):
    for i in range(N):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, N):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(N):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(N - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, N):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]


def durbin(r: [N], y: [N], z: [N]):
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, N):
        beta = (1.0 - alpha * alpha) * beta
        s = 0.0
        for i in range(k):
            s += r[k - i - 1] * y[i]
        alpha = -(r[k] + s) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


def gramschmidt(A: [M, N], R: [N, N], Q: [M, N]):
    for k in range(N):
        s = 0.0
        for i in range(M):
            s += A[i, k] * A[i, k]
        R[k, k] = sqrt(s)
        for i in range(M):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, N):
            R[k, j] = 0.0
            for i in range(M):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(M):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]


def covariance(D: [N, M], V: [M, M], m: [M]):
    for j in range(M):
        m[j] = 0.0
        for i in range(N):
            m[j] += D[i, j]
        m[j] /= number(N)
    for i in range(N):
        for j in range(M):
            D[i, j] -= m[j]
    for i in range(M):
        for j in range(i, M):
            V[i, j] = 0.0
            for k in range(N):
                V[i, j] += D[k, i] * D[k, j]
            V[i, j] /= number(N - 1)
            V[j, i] = V[i, j]


def correlation(D: [N, M], V: [M, M], m: [M], sd: [M]):
    for j in range(M):
        m[j] = 0.0
        for i in range(N):
            m[j] += D[i, j]
        m[j] /= number(N)
    for j in range(M):
        sd[j] = 0.0
        for i in range(N):
            sd[j] += (D[i, j] - m[j]) * (D[i, j] - m[j])
        sd[j] /= number(N)
        sd[j] = sqrt(sd[j])
        sd[j] = 1.0 if sd[j] <= 0.1 else sd[j]
    for i in range(N):
        for j in range(M):
            D[i, j] -= m[j]
            D[i, j] /= sqrt(number(N)) * sd[j]
    for i in range(M - 1):
        V[i, i] = 1.0
        for j in range(i + 1, M):
            V[i, j] = 0.0
            for k in range(N):
                V[i, j] += D[k, i] * D[k, j]
            V[j, i] = V[i, j]
    V[M - 1, M - 1] = 1.0


def floyd(P: [N, N]):
    for k in range(N):
        for i in range(N):
            for j in range(N):
                P[i, j] = least(P[i, j], P[i, k] + P[k, j])


def nussinov(s: [N], T: [N, N]):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            if j - 1 >= 0:
                T[i, j] = most(T[i, j], T[i, j - 1])
            if i + 1 < N:
                T[i, j] = most(T[i, j], T[i + 1, j])
            if j - 1 >= 0 and i + 1 < N:
                if i < j - 1:
                    T[i, j] = most(T[i, j], T[i + 1, j - 1] + (1.0 if s[i] + s[j] == 3.0 else 0.0))
                else:
                    T[i, j] = most(T[i, j], T[i + 1, j - 1])
            for k in range(i + 1, j):
                T[i, j] = most(T[i, j], T[i, k] + T[k + 1, j])


def jacobi1d(A: [N], B: [N]):
    for t in range(TS):
        for i in range(1, N - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, N - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


def jacobi2d(A: [N, N], B: [N, N]):
    for t in range(TS):
        for i in parallel(1, N - 1):
            for j in range(1, N - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j])
        for i in parallel(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j])


def seidel2d(A: [N, N]):
    for t in range(TS):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = (A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i, j + 1]
                           + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]) / 9.0


def heat3d(A: [S, S, S], B: [S, S, S]):
    for t in range(TS):
        for i in parallel(1, S - 1):
            for j in range(1, S - 1):
                for k in range(1, S - 1):
                    B[i, j, k] = (0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                                  + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                                  + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1]) + A[i, j, k])
        for i in parallel(1, S - 1):
            for j in range(1, S - 1):
                for k in range(1, S - 1):
                    A[i, j, k] = (0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                                  + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                                  + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1]) + B[i, j, k])


def fdtd2d(ex: [N, N], ey: [N, N], hz: [N, N], f: [TS]):
    for t in range(TS):
        for j in range(N):
            ey[0, j] = f[t]
        for i in range(1, N):
            for j in range(N):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(N):
            for j in range(1, N):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(N - 1):
            for j in range(N - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def adi(u: [N, N], v: [N, N], p: [N, N], q: [N, N]):
    for t in range(3):
        for i in range(1, N - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, N - 1):
                p[i, j] = -0.3 / (0.2 * p[i, j - 1] + 1.7)
                q[i, j] = (-0.1 * u[j, i - 1] + (1.0 + 2.0 * 0.1) * u[j, i] - 0.15 * u[j, i + 1] - 0.2 * q[i, j - 1]) \
                    / (0.2 * p[i, j - 1] + 1.7)
            v[N - 1, i] = 1.0
            for j in range(N - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, N - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, N - 1):
                p[i, j] = -0.4 / (0.3 * p[i, j - 1] + 1.5)
                q[i, j] = (-0.1 * v[i - 1, j] + (1.0 + 2.0 * 0.1) * v[i, j] - 0.15 * v[i + 1, j] - 0.2 * q[i, j - 1]) \
                    / (0.3 * p[i, j - 1] + 1.5)
            u[i, N - 1] = 1.0
            for j in range(N - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def deriche(I: [N, M], O: [N, M], y1: [N, M], y2: [N, M]):
    for i in range(N):
        m1 = 0.0
        m2 = 0.0
        x1 = 0.0
        for j in range(M):
            y1[i, j] = 0.11 * I[i, j] + 0.21 * x1 + 0.31 * m1 - 0.12 * m2
            x1 = I[i, j]
            m2 = m1
            m1 = y1[i, j]
    for i in range(N):
        m1 = 0.0
        m2 = 0.0
        x1 = 0.0
        x2 = 0.0
        for j in range(M - 1, -1, -1):
            y2[i, j] = 0.11 * x1 + 0.21 * x2 + 0.31 * m1 - 0.12 * m2
            x2 = x1
            x1 = I[i, j]
            m2 = m1
            m1 = y2[i, j]
    for i in range(N):
        for j in range(M):
            O[i, j] = 0.5 * (y1[i, j] + y2[i, j])
    for j in range(M):
        m1 = 0.0
        m2 = 0.0
        x1 = 0.0
        for i in range(N):
            y1[i, j] = 0.11 * O[i, j] + 0.21 * x1 + 0.31 * m1 - 0.12 * m2
            x1 = O[i, j]
            m2 = m1
            m1 = y1[i, j]
    for i in range(N):
        for j in range(M):
            O[i, j] = 0.5 * (y1[i, j] + y2[i, j])


def saxpy(a, x: [L], y: [L]):
    for i in parallel(L):
        y[i] = a * x[i] + y[i]


def dot(x: [L], y: [L], r: [1]):
    s = 0.0
    for i in range(L):
        s += x[i] * y[i]
    r[0] = s


def maximum(x: [L], r: [1]):
    m = x[0]
    for i in range(L):
        m = most(m, x[i])
    r[0] = m


def horner(x: [L], y: [L]):
    for i in range(L):
        s = 0.25
        for k in range(8):
            s = s * x[i] + 1.5
        y[i] = s


def prefix(x: [L], y: [L]):
    s = 0.0
    for i in range(L):
        s += x[i]
        y[i] = s


def blur(I: [N, M], O: [N, M]):
    for i in parallel(1, N - 1):
        for j in range(1, M - 1):
            O[i, j] = (I[i - 1, j - 1] + I[i - 1, j] + I[i - 1, j + 1] + I[i, j - 1] + I[i, j] + I[i, j + 1]
                       + I[i + 1, j - 1] + I[i + 1, j] + I[i + 1, j + 1]) * 0.111


def transpose(I: [N, M], O: [M, N]):
    for i in parallel(N):
        for j in range(M):
            O[j, i] = I[i, j]


def nbody(px: [N], py: [N], pz: [N], m: [N], ax: [N], ay: [N], az: [N]):
    for i in parallel(N):
        sx = 0.0
        sy = 0.0
        sz = 0.0
        for j in range(N):
            dx = px[j] - px[i]
            dy = py[j] - py[i]
            dz = pz[j] - pz[i]
            d = dx * dx + dy * dy + dz * dz + 0.01
            w = m[j] / (d * sqrt(d))
            sx += w * dx
            sy += w * dy
            sz += w * dz
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


def blackscholes(S0: [L], K: [L], T: [L], C: [L]):
    for i in parallel(L):
        d1 = (log(S0[i] / K[i]) + (0.02 + 0.045) * T[i]) / (0.3 * sqrt(T[i]))
        d2 = d1 - 0.3 * sqrt(T[i])
        C[i] = S0[i] * 0.5 * (1.0 + erf(d1 * 0.70710678)) - K[i] * exp(-0.02 * T[i]) * 0.5 * (1.0 + erf(d2 * 0.70710678))


def mandel(X: [N], Y: [M], C: [N, M]):
    for i in parallel(N):
        for j in range(M):
            zr = 0.0
            zi = 0.0
            c = 0.0
            for t in range(30):
                r2 = zr * zr
                i2 = zi * zi
                if r2 + i2 < 4.0:
                    zi = 2.0 * zr * zi + Y[j]
                    zr = r2 - i2 + X[i]
                    c += 1.0
            C[i, j] = c


def softmaxrow(X: [N, M], Y: [N, M]):
    for i in parallel(N):
        m = X[i, 0]
        for j in range(M):
            m = most(m, X[i, j])
        s = 0.0
        for j in range(M):
            Y[i, j] = exp(X[i, j] - m)
            s += Y[i, j]
        for j in range(M):
            Y[i, j] = Y[i, j] / s


def conv2d(I: [N + 2, M + 2, P], W: [3, 3, P, Q], O: [N, M, Q]):
    for y in parallel(N):
        for x in range(M):
            for o in range(Q):
                O[y, x, o] = 0.0
            for a in range(3):
                for b in range(3):
                    for c in range(P):
                        for o in range(Q):
                            O[y, x, o] += I[y + a, x + b, c] * W[a, b, c, o]


def clampscale(x: [L], y: [L]):
    for i in parallel(L):
        v = x[i] * 1.5 - 0.25
        if v > 1.0:
            y[i] = 1.0
        elif v < 0.0:
            y[i] = 0.0
        else:
            y[i] = v


def count(x: [L], r: [1]):
    s = 0.0
    for i in range(L):
        if x[i] > 0.5:
            s += 1.0
    r[0] = s


def lcs(a: [N], b: [N], T: [N, N]):
    for i in range(1, N):
        for j in range(1, N):
            if a[i] == b[j]:
                T[i, j] = T[i - 1, j - 1] + 1.0
            else:
                T[i, j] = most(T[i - 1, j], T[i, j - 1])
